"""Results: scores by name, with counts, groups, intervals and the scores of single examples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from . import _tables


class Named(dict[str, Any]):
    """A dict by names, whose ``KeyError`` lists them."""

    def __init__(self, what: str, items: Mapping[str, Any]) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: object) -> Any:
        raise _unknown(self._what, name, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Named, (self._what, dict(self))


def _unknown(what: str, name: object, known: Iterable[str]) -> KeyError:
    """Returns the error of a name that is not known."""
    names = list(known)
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    return KeyError(f"no {what} {name!r}: expected one of {shown}" if names else f"no {what} {name!r}: there are none")


# Names beyond this number, such as those of classes, are left out of messages.
_MOST_NAMES = 30


class Interval:
    """An interval that holds the true score in ``confidence`` of all data sets.

    ``low`` and ``high`` are ``None`` if there are too few examples for an interval.
    """

    __slots__ = ("low", "high", "method", "standard_error", "undefined")

    def __init__(
        self,
        low: float | None,
        high: float | None,
        method: str | None,
        standard_error: float | None,
        undefined: int,
    ) -> None:
        self.low, self.high, self.method = low, high, method
        self.standard_error, self.undefined = standard_error, undefined

    def _text(self) -> str:
        return _tables.interval(self.low, self.high)

    def __repr__(self) -> str:
        return f"Interval(low={self.low}, high={self.high}, method={self.method!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)


class Samples(Mapping[str, "list[Any]"]):
    """The scores and counts of each example, as columns by name.

    The first column is ``id``. An undefined score is ``None``.
    """

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._columns:
            raise _unknown("column", name, self._columns)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(self._columns["id"])
        return f"<Samples: {rows} examples, columns {', '.join(self._columns)}>"

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns a dict of lists."""
        return dict(self._columns)

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``. A score that all examples lack is a column of NaN."""
        import pandas

        frame = pandas.DataFrame(self._columns)
        return frame.astype({name: "float64" for name in self._empty()})

    def to_arrow(self) -> Any:
        """Returns a ``pyarrow.Table``. A score that all examples lack is a column of null doubles."""
        import pyarrow

        kinds = dict.fromkeys(self._empty(), pyarrow.float64())
        return pyarrow.table({name: pyarrow.array(values, kinds.get(name)) for name, values in self._columns.items()})

    def _empty(self) -> list[str]:
        """Returns the columns of numbers that have no value, from which a type cannot be told."""
        columns = self._columns.items()
        return [name for name, values in columns if name not in ("id", "part") and all(value is None for value in values)]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Result(Mapping[str, "float | None"]):
    """Scores by name. An undefined score is ``None``.

    Attributes:
        warnings: Remarks on the result, in words.
        samples: Scores by example, if they were requested; otherwise ``None``.

    >>> import metric_suite
    >>> result = metric_suite.wer(predictions=["the cat"], references=["the cat sat"])
    >>> result["wer"]
    0.3333333333333333
    >>> result.counts["deletions"]
    1
    """

    samples: Samples | None = None
    _scores: dict[str, float | None]
    # The scorer and the texts of a call whose outcome has not been requested: each prediction before its reference.
    _scorer: Any
    _texts: tuple[str, ...]

    # There is no `__init__`: a call of one would take a fifth of the time that a pair of short texts does.
    @classmethod
    def _of_outcome(cls, outcome: Any) -> Result:
        result = cls()
        result._outcome = outcome
        # In the words of Python, which differ from those of the program.
        result._scores, result.warnings = outcome.summary()
        columns = outcome.samples()
        if columns is not None:
            result.samples = Samples(columns)
        return result

    @cached_property
    def _outcome(self) -> Any:
        return self._scorer.score_values(list(self._texts[::2]), list(self._texts[1::2]), None, None)

    @cached_property
    def warnings(self) -> list[str]:
        return []

    @classmethod
    def _of_json(cls, body: dict[str, Any]) -> Result:
        result = cls()
        result._outcome = None
        result.__dict__["_json"] = body
        result._scores = body["scores"]
        result.warnings = list(body.get("warnings", ()))
        return result

    @cached_property
    def _json(self) -> dict[str, Any]:
        """The result as JSON, which is read only if more than scores is requested."""
        body: dict[str, Any] = json.loads(self._outcome.to_json())
        return body

    @property
    def metric(self) -> str:
        """The name of the metric."""
        name: str = self._json.get("metric", "")
        return name

    @property
    def signature(self) -> str:
        """The metric, its options and its version: equal signatures give equal scores on equal data."""
        signature: str = self._json.get("signature", "")
        return signature

    @property
    def examples(self) -> int | None:
        """The number of examples that were scored."""
        return self._json.get("examples")

    @property
    def missing(self) -> int:
        """The number of references without a prediction."""
        missing: int = self._json.get("missing", 0)
        return missing

    @property
    def counts(self) -> Mapping[str, Any]:
        """The counts that the scores are computed from."""
        return Named("count", self._json.get("counts", {}))

    @cached_property
    def statistics(self) -> dict[str, Any] | None:
        """The settings of resampling, or ``None``."""
        statistics = self._json.get("statistics")
        if statistics is None:
            return None
        return {name: value for name, value in statistics.items() if name != "intervals"}

    @cached_property
    def intervals(self) -> Mapping[str, Interval]:
        """Intervals by score, if statistics were requested; otherwise empty."""
        statistics = self._json.get("statistics")
        intervals = self._json.get("intervals") if statistics is None else statistics["intervals"]
        found = {name: Interval(**interval) for name, interval in (intervals or {}).items()}
        # Without statistics, there are none.
        return Named("interval of", found)

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, Result]]:
        """Results of groups and slices: ``groups["class"]["dog"]``."""
        common = {"metric": self.metric, "signature": self.signature}
        found = {
            kind: Named(f"group of {kind}", {name: Result._of_json({**common, **group}) for name, group in groups.items()})
            for kind, groups in self._json.get("groups", {}).items()
        }
        return Named("kind of group", found)

    def __getitem__(self, name: str) -> float | None:
        if name not in self._scores:
            raise _unknown("score", name, self._scores)
        return self._scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    @property
    def details(self) -> Any:
        """Details that are too large for a table, such as curves; ``None`` if there are none.

        Some metrics keep them only with ``details=True``.
        """
        text = None if self._outcome is None else self._outcome.details()
        return None if text is None else json.loads(text)

    def __reduce__(self) -> tuple[Any, ...]:
        details = None if self._outcome is None else self._outcome.details()
        samples = None if self.samples is None else self.samples.to_dict()
        return _unpickled, (type(self), self._json, self.to_json(), list(self.warnings), details, samples)

    def __float__(self) -> float:
        """Returns the first score; ``nan`` if it is undefined."""
        first = next(iter(self._scores.values()))
        return float("nan") if first is None else first

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole result as a dict, in the form of the JSON that the program ``metric`` prints."""
        return self._json

    def to_json(self) -> str:
        """Returns the JSON that the program ``metric`` prints."""
        if self._outcome is not None:
            text: str = self._outcome.to_json()
            return text
        return json.dumps(self._json, separators=(",", ":"), ensure_ascii=False)

    def _interval_head(self) -> str:
        return f"{100 * self.statistics['confidence']:g}% interval" if self.statistics else "interval"

    def _as_tables(self) -> list[_tables.Table]:
        """The scores, then the scores of the groups of each kind, one row per group."""
        head, rows = ["score", "value"], [[name, _tables.number(score)] for name, score in self._scores.items()]
        if self.intervals:
            head.append(self._interval_head())
            for row in rows:
                interval = self.intervals.get(row[0])
                row.append("-" if interval is None else interval._text())
        tables = [_tables.Table(head, rows)]
        for kind, groups in self.groups.items():
            names = list(dict.fromkeys(name for group in groups.values() for name in group))
            head, has_intervals = [kind], any(group.intervals for group in groups.values())
            for name in names:
                head += [name, f"{name}, {self._interval_head()}"] if has_intervals else [name]
            rows = [[label, *group._cells(names, has_intervals)] for label, group in groups.items()]
            tables.append(_tables.Table(head, rows))
        return tables

    def _cells(self, names: list[str], has_intervals: bool) -> list[str]:
        """The scores of a group as cells of its row."""
        cells = []
        for name in names:
            cells.append(_tables.number(self._scores.get(name)))
            if has_intervals:
                interval = self.intervals.get(name)
                cells.append("-" if interval is None else interval._text())
        return cells

    def _records(self, kind: str | None = None, group: str | None = None) -> list[dict[str, Any]]:
        """The scores as rows of a data frame: the whole data, then the groups of each kind."""
        has_groups = kind is not None or bool(self.groups)
        place: dict[str, Any] = {"kind": kind, "group": group} if has_groups else {}
        rows = []
        for name, score in self._scores.items():
            row = {**place, "score": name, "value": score}
            interval = self.intervals.get(name)
            if interval is not None:
                row |= {"low": interval.low, "high": interval.high}
            rows.append(row)
        for kind_of_group, groups in self.groups.items():
            for label, result in groups.items():
                rows += result._records(kind_of_group, label)
        return rows

    def to_pandas(self) -> Any:
        """Returns the scores as a ``pandas.DataFrame``, one row per score.

        The columns are ``score`` and ``value``; ``kind`` and ``group`` if there are groups, whose rows follow those of all
        examples; ``low`` and ``high`` if there are intervals. An undefined score is NaN.
        """
        return _tables.pandas_frame(self._records(), ("value", "low", "high"))

    def to_polars(self) -> Any:
        """Returns the scores as a ``polars.DataFrame`` with the columns of ``to_pandas``. An undefined score is null."""
        return _tables.polars_frame(self._records(), ("value", "low", "high"))

    def __repr__(self) -> str:
        lines = [_tables.text(self._as_tables())]
        if self.groups:
            lines.append("")
        if self.examples is not None:
            lines.append(f"{self.examples} example{'' if self.examples == 1 else 's'}, {self.signature}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Returns the scores, and those of groups, as Markdown tables."""
        return f"{_tables.markdown(self._as_tables())}\n\n`{self.signature}`\n"

    def to_latex(self) -> str:
        """Returns the scores, and those of groups, as LaTeX tables, which need the package ``booktabs``."""
        return f"{_tables.latex(self._as_tables())}\n% {self.signature}\n"

    def _repr_html_(self) -> str:
        return _tables.html(self._as_tables(), self.signature, self.warnings)


class _Stored:
    """The part of an outcome that a pickled result keeps."""

    def __init__(self, text: str, details: str | None) -> None:
        self._text, self._details = text, details

    def to_json(self) -> str:
        return self._text

    def details(self) -> str | None:
        return self._details


def _unpickled(
    kind: type[Result], body: dict[str, Any], text: str, warnings: list[str], details: str | None, samples: Any
) -> Result:
    result = kind._of_json(body)
    result._outcome = _Stored(text, details)
    result.warnings[:] = warnings
    result.samples = None if samples is None else Samples(samples)
    return result


class CocoResult(Result):
    """A result of ``coco``, with the arrays whose means are its scores.

    Axes are IoU thresholds, recalls, classes, area ranges and numbers of detections, as in ``COCOeval.eval`` of
    pycocotools. A number is -1 where no ground-truth object counts.

    >>> import metric_suite
    >>> truth = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]])
    >>> found = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]], score=[0.5])
    >>> metric_suite.coco(predictions=found, references=truth).precision.shape
    (10, 101, 1, 4, 3)
    """

    _arrays: dict[str, Any] | None = None

    def _array(self, name: str, axes: list[int]) -> Any:
        import numpy

        if self._arrays is None:
            self._arrays = self.details
        if self._arrays is None:
            raise AttributeError(f"the result of a group has no {name}: the whole result has it")
        shape = [self._arrays["shape"][axis] for axis in axes]
        return numpy.array(self._arrays[name], dtype="float64").reshape(shape)

    @property
    def precision(self) -> Any:
        """Precision: a numpy array of thresholds, recalls, classes, area ranges and numbers of detections."""
        return self._array("precision", [0, 1, 2, 3, 4])

    @property
    def recall(self) -> Any:
        """Recall of all detections: a numpy array of thresholds, classes, area ranges and numbers of detections."""
        return self._array("recall", [0, 2, 3, 4])

    @property
    def scores(self) -> Any:
        """The score of the detection that reaches a recall: a numpy array like ``precision``."""
        return self._array("scores", [0, 1, 2, 3, 4])


def result_of(outcome: Any) -> Result:
    """Returns the result of an outcome, of the class of its metric."""
    kind = CocoResult if outcome.has_arrays else Result
    return kind._of_outcome(outcome)
