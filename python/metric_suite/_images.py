"""Pictures of labels: arrays of other packages, which the engine reads where they are, and files by path or by their bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._errors import MetricError

_SIDES = {"predictions": "prediction", "references": "reference"}


def images_of(values: Any, name: str, field: str) -> Any:
    """Returns values as those that the engine reads, without a copy of arrays and files; values without pictures as they are.

    Args:
        values: An array of N images, or a list or a column with an image per example: an array, a path or the bytes of a file.
        name: The side, for messages.
        field: The name of the field with the picture, where each value is a dict; otherwise empty.
    """
    if isinstance(values, (str, bytes, Mapping)):
        return values
    if not isinstance(values, (list, tuple)):
        values = _listed(values, name, field)
    if not isinstance(values, Sequence) or not any(_has_picture(value, field) for value in values):
        return values
    found, fields = [], []
    for index, value in enumerate(values):
        place = f"{name}[{index}]"
        others = None
        if field and isinstance(value, Mapping):
            value = {key: _path(other) for key, other in value.items()}
            place = f"{place}: {field}"
            if _is_pixels(value.get(field)):
                others = _native.dumps({key: other for key, other in value.items() if key != field}, f"{name}[{index}]")
                value = value[field]
        if _is_array(value):
            value = _pixels(value, place, index, name)
        found.append(bytes(value) if isinstance(value, bytearray) else _path(value))
        fields.append(others)
    return _native.Pictures(found, field, fields if field else None)


def are_images(values: Mapping[Any, Any], field: str) -> bool:
    """Whether some values of a mapping are pictures, also by the path of a file as a string."""

    def is_named(value: Any) -> bool:
        if not field:
            return isinstance(value, str)
        return isinstance(value, Mapping) and isinstance(value.get(field, value.get("file_name")), str)

    return any(_has_picture(value, field) or is_named(value) for value in values.values())


def _has_picture(value: Any, field: str) -> bool:
    """Whether a value has a picture in a form that is not JSON."""
    if field:
        if not isinstance(value, Mapping):
            return False
        return _is_pixels(value.get(field)) or any(isinstance(other, os.PathLike) for other in value.values())
    return _is_pixels(value) or isinstance(value, os.PathLike)


def _is_pixels(value: Any) -> bool:
    return isinstance(value, (bytes, bytearray)) or _is_array(value)


def _path(value: Any) -> Any:
    """Returns a path as a string, and other values as they are."""
    return os.fsdecode(value) if isinstance(value, os.PathLike) else value


def _listed(values: Any, name: str, field: str) -> Any:
    """Returns the values of an array, of a column or of an iterator as a list."""
    for method in ("to_pylist", "to_list"):
        if hasattr(values, method):
            return getattr(values, method)()
    if not field and _is_array(values):
        return _whole(values, name)
    return list(values) if hasattr(values, "__next__") else values


def _is_array(value: Any) -> bool:
    """Whether a value is an array of any library, a tensor or a buffer."""
    if isinstance(value, (str, bytes, bytearray, list, tuple, Mapping)) or value is None:
        return False
    return any(hasattr(value, one) for one in ("__array__", "__dlpack__", "__array_interface__")) or isinstance(value, memoryview)


def _borrowed(value: Any, place: str, index: int | None, name: str) -> Any:
    """Returns an array of numpy in the memory of another one, where that is possible."""
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        if hasattr(value, "__dlpack__") and not any(hasattr(value, one) for one in ("__array__", "__array_interface__")):
            return numpy.from_dlpack(value)
        return numpy.asarray(value)
    except (TypeError, ValueError, BufferError) as error:
        raise MetricError(f"{place}: found no array of labels: {error}", index=index, side=_SIDES[name]) from None


def _whole(values: Any, name: str) -> list[Any]:
    """Returns the images of an array of N images."""
    found = _borrowed(values, name, None, name)
    if found.ndim == 3 or found.dtype.kind == "O":
        return list(found)
    problem = f"found an array of shape {found.shape}: expected (N, height, width)"
    if found.ndim == 2:
        problem += "; a single image is a list of one array"
    elif found.ndim == 4:
        problem += "; of scores of classes, take the argmax"
    raise MetricError(f"{name}: {problem}", side=_SIDES[name])


def _pixels(value: Any, place: str, index: int, name: str) -> Any:
    """Returns the labels of an image."""
    found = _borrowed(value, place, index, name)
    problem = None
    if found.ndim != 2:
        problem = f"found an array of shape {found.shape}: expected (height, width)"
        if found.ndim == 3:
            problem += "; of scores of classes, take the argmax; of colors, their labels"
    elif found.dtype.kind not in "iub":
        problem = f"found an array of {found.dtype}: expected integers, which are labels"
    if problem is not None:
        raise MetricError(f"{place}: {problem}", index=index, side=_SIDES[name])
    if found.dtype.kind == "b":
        # The same bytes, which are 0 and 1.
        return found.view("uint8")
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))
