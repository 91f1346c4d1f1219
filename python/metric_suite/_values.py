"""The forms of values in other packages, as those that the engine reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._errors import MetricError

_SIDES = {"predictions": "prediction", "references": "reference"}


def plain_values(values: Any) -> Any:
    """Returns arrays of other libraries, and arrays of booleans, as arrays that the engine reads."""
    if hasattr(values, "detach"):
        # A tensor of torch. numpy has no numbers like its 16-bit ones.
        values = values.detach().cpu()
        values = (values.float() if "bfloat16" in str(values.dtype) else values).numpy()
    elif hasattr(values, "__dlpack__") and not any(
        hasattr(values, name) for name in ("__array_interface__", "__arrow_c_array__", "__arrow_c_stream__")
    ):
        import numpy

        values = numpy.asarray(values) if hasattr(values, "__array__") else numpy.from_dlpack(values)
    if type(values).__module__ == "numpy" and str(getattr(values, "dtype", "")) == "bool":
        # Booleans are the labels 0 and 1, as in scikit-learn.
        return values.astype("int64")
    return values


def indicator_rows(predictions: Any, references: Any) -> tuple[Any, Any]:
    """Returns lists of rows of 0 and 1, for which predictions may also be rows of scores, as arrays. Other lists have labels.

    Rows have two or more columns. Lists of labels do not look like this: a label occurs once in each.
    """

    def rows(values: Any, is_cell: Callable[[Any], bool]) -> bool:
        if getattr(values, "ndim", 0) == 2:
            return True
        if not isinstance(values, list) or not values or not isinstance(values[0], (list, tuple)):
            return False
        width = len(values[0])
        is_row = (isinstance(row, (list, tuple)) and len(row) == width and all(map(is_cell, row)) for row in values)
        return width > 1 and all(is_row)

    def is_bit(cell: Any) -> bool:
        return isinstance(cell, int) and cell in (0, 1)

    def is_score(cell: Any) -> bool:
        return isinstance(cell, (int, float))

    if not rows(references, is_bit):
        return predictions, references
    is_bits = rows(predictions, is_bit)
    if not is_bits and not rows(predictions, is_score):
        return predictions, references
    import numpy

    if isinstance(references, list):
        references = numpy.asarray(references, dtype="int64")
    if isinstance(predictions, list):
        predictions = numpy.asarray(predictions, dtype="int64" if is_bits else "float64")
    return predictions, references


# How rows of SQuAD and VQA in data sets of Hugging Face name ids and answers: the text of an answer is a value of its
# own, or in a dict.
_ANSWERS = (("id", "prediction_text"), ("id", "answers"), ("question_id", "answer"), ("question_id", "answers"))


def answers_by_id(rows: Any, name: str) -> dict[str, Any] | None:
    """Returns the answers by id of rows that are such dicts, and ``None`` for other values."""
    is_rows = isinstance(rows, Sequence) or type(rows).__module__.startswith("datasets.")
    if not is_rows or isinstance(rows, (str, bytes)) or len(rows) == 0 or not isinstance(rows[0], Mapping):
        return None
    names = next((names for names in _ANSWERS if all(name in rows[0] for name in names)), None)
    if names is None:
        return None
    found = {}
    for index, row in enumerate(rows):
        missing = [key for key in names if not isinstance(row, Mapping) or key not in row]
        if missing:
            problem = f"no {missing[0]}: expected {names[0]} and {names[1]}"
            raise MetricError(f"{name}[{index}]: {problem}", index=index, side=_SIDES[name])
        answer = row[names[1]]
        if isinstance(answer, Mapping):
            answer = list(answer["text"])
        elif names[1] == "answers":
            answer = [one.get("answer", one.get("text")) if isinstance(one, Mapping) else one for one in answer]
        if str(row[names[0]]) in found:
            problem = f"the {names[0]} {row[names[0]]!r} occurs twice"
            raise MetricError(f"{name}[{index}]: {problem}", index=index, id=str(row[names[0]]), side=_SIDES[name])
        found[str(row[names[0]])] = answer
    return found


def are_scores(predictions: Any) -> bool:
    """Whether predictions are rows of numbers of which some are floating-point ones: an array, or rows of any library."""
    if getattr(predictions, "ndim", 0) == 2 and hasattr(predictions, "dtype"):
        return "float" in str(predictions.dtype)
    if hasattr(predictions, "__array__") and not hasattr(predictions, "dtype") and not hasattr(predictions, "to_pylist"):
        array = predictions.__array__()
        return bool(array.ndim == 2 and array.dtype.kind == "f")
    if isinstance(predictions, Mapping):
        return are_scores(list(predictions.values()))
    if isinstance(predictions, (str, bytes)) or not hasattr(predictions, "__len__"):
        return False
    if hasattr(predictions, "to_pylist"):
        # Rows of pyarrow, whose type says what they are.
        return "list" in str(predictions.type) and any(kind in str(predictions.type) for kind in ("float", "double"))
    for row in predictions if hasattr(predictions, "__iter__") else ():
        if hasattr(row, "dtype"):
            if "float" in str(row.dtype).lower():
                return True
        elif not isinstance(row, (list, tuple)):
            return False
        elif any(isinstance(value, float) or "float" in str(getattr(value, "dtype", "")) for value in row):
            return True
        elif any(isinstance(value, str) for value in row):
            return False
    return False


def as_labels(values: Any) -> Any:
    """Returns booleans as the labels 0 and 1, as in scikit-learn."""
    if isinstance(values, Mapping):
        return dict(zip(values, as_labels(list(values.values()))))
    values = list(values) if hasattr(values, "__next__") else values
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if "bool" in kind and hasattr(values, "__len__"):
        values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    elif not isinstance(values, (list, tuple)) or not values or type(values[0]).__name__ not in _BOOLEANS:
        return values
    # A missing value stays one.
    is_boolean = [type(value).__name__ in _BOOLEANS for value in values]
    return [int(value) if fits else None if kind else value for value, fits in zip(values, is_boolean)]


# Python's, and those of numpy.
_BOOLEANS = ("bool", "bool_")


def with_way_out(error: MetricError, values: Any) -> MetricError:
    """Returns the error of a label such as 1.0, with the way to turn all of its column into integers."""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if not kind.startswith(("float", "double")) or "found null" in error.problem:
        return error
    call = {"polars": ".cast(int)", "pyarrow": '.cast("int64")'}.get(type(values).__module__.split(".")[0], '.astype("int64")')
    problem = f"{error.problem}; {call} turns a column of such numbers into labels"
    return MetricError(problem, option=error.option, index=error.index, id=error.id, side=error.side, field=error.field)
