"""Columns of other libraries as numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import MetricError

# How a message names the value with an index, and the index that the error has.
Locate = Callable[[int], tuple[str, int]]


def as_array(values: Any, name: str) -> Any:
    """Returns a column of any library as a numpy array; a set is refused, because its order is arbitrary."""
    import numpy

    if isinstance(values, (set, frozenset)):
        raise MetricError(f"{name}: found a set, which has no order: expected a sequence of values, such as a list")
    if hasattr(values, "detach"):
        # A tensor of torch. numpy has no numbers like its 16-bit ones.
        values = values.detach().cpu()
        values = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
    elif not hasattr(values, "dtype") and not hasattr(values, "__array__"):
        if not hasattr(values, "__iter__") or isinstance(values, (str, bytes)):
            raise MetricError(f"{name}: found {type(values).__name__}: expected a sequence of values")
        values = list(values)
    try:
        return numpy.asarray(values)
    except ValueError as error:
        # Such as rows of different lengths.
        raise MetricError(f"{name}: found values of different shapes: expected values of one shape ({error})") from None


def flat(found: Any, name: str) -> Any:
    """Returns an array with one value per object; another shape is refused."""
    if found.size == 0:
        return found.reshape(0)
    if found.ndim != 1:
        raise MetricError(f"{name}: found an array of shape {found.shape}: expected N values, one per object")
    return found


def as_numbers(values: Any, name: str) -> Any:
    """Returns a column of numbers as a numpy array of float64, in which a missing value is NaN."""
    import numpy

    try:
        if type(values).__module__.partition(".")[0] == "pandas":
            # Its own missing value is not a number.
            values = values.to_numpy("float64", na_value=numpy.nan)
        return as_array(values, name).astype("float64", copy=False)
    except (TypeError, ValueError) as error:
        if isinstance(error, MetricError):
            raise
        raise MetricError(f"{name}: expected numbers: {error}") from None


def as_ids(values: Any, name: str, locate: Locate | None = None) -> Any:
    """Returns a column of ids, integers or strings, as a numpy array. Integers may be of a floating-point type."""
    import numpy

    # numpy writes what is mixed with strings as a string, such as NaN.
    is_plain = isinstance(values, (list, tuple))
    found = flat(as_array(values, name), name)
    given = values if is_plain and found.dtype.kind == "U" else found
    wrong: Any = []
    if found.dtype.kind == "f":
        wrong = numpy.flatnonzero(~(numpy.isfinite(found) & (found == numpy.floor(found))))
    elif given is values or found.dtype.kind not in "iuU":
        is_id = (isinstance(value, (int, str, numpy.integer)) and not isinstance(value, bool) for value in given)
        wrong = [index for index, fits in enumerate(is_id) if not fits]
    if len(wrong):
        place, index = (locate or _locate(name))(int(wrong[0]))
        raise MetricError(f"{place}: found {given[wrong[0]]}: expected an integer or a string", index=index)
    if found.dtype.kind == "O":
        # Integers of numpy as those of Python.
        found = numpy.array([value.item() if isinstance(value, numpy.integer) else value for value in found], dtype=object)
    return found.astype("int64", copy=False) if found.dtype.kind in "iuf" else found


def as_scores(values: Any, name: str, locate: Locate | None = None) -> Any:
    """Returns a column of scores, none of which is NaN."""
    import numpy

    found = flat(as_numbers(values, name), name)
    wrong = numpy.flatnonzero(numpy.isnan(found))
    if len(wrong):
        place, index = (locate or _locate(name))(int(wrong[0]))
        raise MetricError(f"{place}: found NaN: expected a number", index=index, side="prediction")
    return found


def _locate(name: str) -> Locate:
    return lambda index: (f"{name}[{index}]", index)
