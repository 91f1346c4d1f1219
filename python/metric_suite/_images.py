"""Images of labels in the arrays of other packages, which the engine reads where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._errors import MetricError

_SIDES = {"predictions": "prediction", "references": "reference"}


def images_of(values: Any, name: str, field: str) -> Any:
    """Returns images in arrays as those that the engine reads without a copy; other values as they are.

    Args:
        values: An array of N images, or a list of an array per image, or the values of such a list.
        name: The side, for messages.
        field: The name of the field with the array, where each image is a dict; otherwise empty.
    """
    if isinstance(values, (str, bytes, Mapping)):
        return values
    if not isinstance(values, (list, tuple)):
        if field or not _is_array(values):
            return list(values) if hasattr(values, "__next__") else values
        values = _whole(values, name)
    if field:
        return _with_fields(values, name, field)
    arrays = [_is_array(value) for value in values]
    if not any(arrays) or any(value is None or isinstance(value, str) for value in values):
        return values
    return _native.Grids([_pixels(value, f"{name}[{index}]", index, name) for index, value in enumerate(values)])


def has_images(values: Mapping[Any, Any], field: str) -> bool:
    """Whether the values of a mapping are images in arrays."""
    first = next(iter(values.values()), None)
    return _is_array(first.get(field) if field and isinstance(first, Mapping) else first)


def _with_fields(values: Sequence[Any], name: str, field: str) -> Any:
    if not values or not all(isinstance(value, Mapping) and _is_array(value.get(field)) for value in values):
        return values
    arrays, others = [], []
    for index, value in enumerate(values):
        place = f"{name}[{index}]"
        arrays.append(_pixels(value[field], f"{place}: {field}", index, name))
        others.append(_native.dumps({key: other for key, other in value.items() if key != field}, place))
    return _native.Grids(arrays, field, others)


def _is_array(value: Any) -> bool:
    """Whether a value is an array of any library, a tensor or a buffer."""
    if isinstance(value, (str, bytes, list, tuple, Mapping)) or value is None:
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
    if found.ndim == 3:
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
