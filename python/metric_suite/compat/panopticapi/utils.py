"""Ids of segments and colors with the interface of ``panopticapi.utils``."""

from __future__ import annotations

import json
import random
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["IdGenerator", "get_traceback", "id2rgb", "rgb2id", "save_json"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def get_traceback(f: Callable[_P, _R]) -> Callable[_P, _R]:
    """Returns a function that prints where an exception comes from before it passes it on, for work in other processes."""

    @wraps(f)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return f(*args, **kwargs)
        except Exception:
            print("Caught exception in worker thread:")
            traceback.print_exc()
            raise

    return call


class IdGenerator:
    """Makes ids of segments whose colors are near the color of their category, and different in one image.

    ``categories`` maps ids to dictionaries with ``color`` and ``isthing``. Segments of stuff have the color of their
    category; those of things have random colors near it, from the module ``random``.

    >>> generator = IdGenerator({1: {"color": [10, 20, 30], "isthing": 0}})
    >>> generator.get_id_and_color(1)
    (1971210, [10, 20, 30])
    """

    def __init__(self, categories: Mapping[int, Mapping[str, Any]]) -> None:
        self.categories = categories
        self.taken_colors: set[tuple[int, ...]] = {(0, 0, 0)}
        for category in categories.values():
            if category["isthing"] == 0:
                self.taken_colors.add(tuple(category["color"]))

    def get_color(self, cat_id: int) -> Any:
        """Returns a color for a segment of a category."""
        category = self.categories[cat_id]
        if category["isthing"] == 0:
            return category["color"]
        base = tuple(category["color"])
        color, most = base, 30
        while color in self.taken_colors:
            color = tuple(min(255, max(0, part + random.randint(-most, most))) for part in base)
            # More colors are near once the nearest ones are taken.
            most = min(255, most + 1)
        self.taken_colors.add(color)
        return color

    def get_id(self, cat_id: int) -> int:
        """Returns an id for a segment of a category."""
        return int(rgb2id(self.get_color(cat_id)))

    def get_id_and_color(self, cat_id: int) -> tuple[int, Any]:
        """Returns an id for a segment of a category, and its color."""
        color = self.get_color(cat_id)
        return int(rgb2id(color)), color


def rgb2id(color: Any) -> Any:
    """Returns the id of a color, or an array of ids of an image of shape (H, W, 3)."""
    if getattr(color, "ndim", 1) == 3:
        import numpy

        parts = numpy.asarray(color, dtype=numpy.int32)
        return parts[:, :, 0] + 256 * parts[:, :, 1] + 65536 * parts[:, :, 2]
    red, green, blue = (int(part) for part in color)
    return red + 256 * green + 65536 * blue


def id2rgb(id_map: Any) -> Any:
    """Returns the color of an id as a list, or an image of shape (..., 3) of an array of ids."""
    shape = getattr(id_map, "shape", ())
    if shape:
        import numpy

        ids = numpy.asarray(id_map)
        return numpy.stack([ids // 256**part % 256 for part in range(3)], axis=-1).astype(numpy.uint8)
    return [int(id_map) // 256**part % 256 for part in range(3)]


def save_json(d: Any, file: Any) -> None:
    """Writes a value into a file as JSON."""
    with open(file, "w", encoding="utf-8") as to:
        json.dump(d, to)
