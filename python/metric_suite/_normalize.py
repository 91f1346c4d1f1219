"""The normalization of texts, as the option ``normalize`` of metrics of text makes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import _native
from ._errors import MetricError


def normalize(texts: Any, steps: str | Sequence[str]) -> Any:
    """Returns texts after the steps of a normalization, to see a recipe before a number is reported.

    Args:
        texts: A text, or a column of texts: a list, a tuple, an array of NumPy, a series of pandas or polars, an array of
            pyarrow. Missing values stay missing, and an item may be a list of texts.
        steps: The steps as ``normalize`` of a metric takes them: a text such as "nfc,lower", or a list of steps.

    Returns:
        The same kind: a text for a text, and a column for a column. Other sequences give a list.

    Raises:
        MetricError: A step is unknown, or an item is not a text.

    >>> normalize("It's 1,000 Colours", "whisper-english")
    'it is 1000 colors'
    >>> normalize(["Große", None], ["casefold", "strip"])
    ['grosse', None]
    """
    steps = steps if isinstance(steps, str) else ",".join(steps)
    if isinstance(texts, str):
        return _native.normalize([texts], steps)[0]
    items = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    flat: list[str | None] = []
    counts = [_gather(item, index, flat) for index, item in enumerate(items)]
    normalized = iter(_native.normalize(flat, steps))
    made = [next(normalized) if count is None else [next(normalized) for _ in range(count)] for count in counts]
    return _kind(texts)(made)


def _gather(item: Any, index: int, flat: list[str | None]) -> int | None:
    """Adds the texts of an item, and returns their number if it is a list."""
    if isinstance(item, str) or _is_missing(item):
        flat.append(item if isinstance(item, str) else None)
        return None
    if isinstance(item, list | tuple) and all(isinstance(text, str) for text in item):
        flat.extend(item)
        return len(item)
    raise MetricError(f"index {index}: expected a text, found {type(item).__name__}", index=index)


def _is_missing(item: Any) -> bool:
    """Whether an item is None, NaN, or the missing value of pandas."""
    return item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and item != item)


def _kind(texts: Any) -> Callable[[list[Any]], Any]:
    """Returns what makes a column of the kind of another one."""
    module = type(texts).__module__.partition(".")[0]
    if isinstance(texts, tuple):
        return tuple
    if module == "pandas" and hasattr(texts, "index") and hasattr(texts, "name"):
        return lambda made: type(texts)(made, index=texts.index, name=texts.name)
    if module == "polars":
        return lambda made: type(texts)(texts.name, made)
    if module == "numpy":
        numpy = sys.modules["numpy"]
        return lambda made: numpy.array(made, dtype=object if texts.dtype == object else str)
    if module == "pyarrow":
        pyarrow = sys.modules["pyarrow"]
        if isinstance(texts, pyarrow.ChunkedArray):
            return lambda made: pyarrow.chunked_array([made], type=texts.type)
        return lambda made: pyarrow.array(made, type=texts.type)
    return list
