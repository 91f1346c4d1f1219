"""The work of executors: they score parts of a data set, and merge their states."""

# Types do not know the functions of pyarrow.compute, which are made when it is imported.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _native
from .._errors import MetricError
from . import _columns

# The schema of the results of a part: a state, or a problem as JSON. The slot is the task that merges it.
STATES = "metric string, slot int, state binary, problem string"
# The schema of examples.
SAMPLES = "metric string, id string, part string, scores map<string,double>, counts string"
# Rows without ids are numbered in the same way as by `monotonically_increasing_id`.
_ROWS = 33
# The number of ids that a problem names.
_NAMED = 5
# States that wait to be merged.
_MOST_WAITING = 64


@dataclass(frozen=True)
class Job:
    """A metric with its options, and the column of its predictions."""

    label: str
    metric: str
    options: dict[str, Any]
    prediction: str
    #: Whether predictions are rows of labels or of scores.
    is_ranked: bool = False
    #: The name of the system whose predictions these are, if systems are compared.
    system: str | None = None


@dataclass(frozen=True)
class Work:
    """The work to do on each part of a frame."""

    jobs: tuple[Job, ...]
    settings: dict[str, Any]
    reference: str = "reference"
    has_ids: bool = False
    fields: tuple[str, ...] = ()
    #: The columns whose texts are JSON.
    json: frozenset[str] = frozenset()
    #: The classes of objects; ``None`` where rows are examples.
    categories: tuple[tuple[Any, str], ...] | None = None
    order: str | None = None
    #: The number of tasks that merge states.
    slots: int = 1

    def scorers(self) -> list[Any]:
        """Returns a scorer for each job. Each executor makes its own."""
        return [_native.Scorer(job.metric, job.options, self.settings) for job in self.jobs]


class _Sums:
    """The outcome of each job. States are merged in blocks, because merging one by one would copy large states often."""

    def __init__(self, work: Work, scorers: Sequence[Any]) -> None:
        self._work, self._scorers = work, scorers
        self._waiting: list[list[Any]] = [[] for _ in scorers]

    def add(self, outcomes: Sequence[Any]) -> None:
        for waiting, outcome in zip(self._waiting, outcomes):
            waiting.append(outcome)
            if len(waiting) >= _MOST_WAITING:
                waiting[:] = [_native.merge_outcomes(waiting)]

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for job, scorer, waiting in zip(self._work.jobs, self._scorers, self._waiting):
            outcome = _native.merge_outcomes(waiting) if waiting else scorer.nothing()
            rows.append(_row(self._work.slots, job.label, state=outcome.to_bytes()))
        return rows


def _row(slots: int, metric: str | None, *, state: bytes | None = None, problem: Any = None) -> dict[str, Any]:
    return {
        "metric": metric,
        "slot": _partition() % slots,
        "state": state,
        "problem": None if problem is None else json.dumps(problem),
    }


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _failed(error: MetricError, has_ids: bool) -> dict[str, Any]:
    """Returns a problem of a record, with its partition and row if it has no id."""
    message, id = error.problem, error.id
    if not has_ids and id is not None and id.isdigit():
        place = f"partition {int(id) >> _ROWS}, row {int(id) & ((1 << _ROWS) - 1)}"
        message = message.replace(f'id "{id}"', place)
    return {
        "kind": "record",
        "message": message,
        "ids": [id or ""],
        "place": {"option": error.option, "id": id, "side": error.side, "field": error.field},
    }


def _outcomes(work: Work, scorers: Sequence[Any], references: Any, predictions: Any = None, first: int = 0) -> list[Any]:
    """Scores examples: rows with both sides, or two tables that are joined by id."""
    import numpy

    def column(table: Any, name: str, is_ranked: bool = False) -> Any:
        return _columns.values(table[name], name, is_json=name in work.json, is_ranked=is_ranked)

    if work.has_ids:
        ids = references["id"]
    else:
        ids = numpy.arange(first, first + len(references), dtype="int64")
    fields = {name: column(references, name) for name in work.fields}
    truth = column(references, work.reference)
    true_pictures: dict[str, Any] = {}
    other = references if predictions is None else predictions
    other_ids = None if predictions is None else predictions["id"]
    found = []
    for job, scorer in zip(work.jobs, scorers):
        prediction, true_values = column(other, job.prediction, job.is_ranked), truth
        try:
            pictures = _native.pictures(job.metric)
            if pictures is not None:
                field = pictures[0]
                prediction = _columns.pictures(prediction, "predictions", field)
                if field not in true_pictures:
                    true_pictures[field] = _columns.pictures(truth, "references", field)
                true_values = true_pictures[field]
            found.append(scorer.score_values(prediction, true_values, ids, fields, other_ids))
        except MetricError as error:
            raise of_system(error, job.system) from None
    return found


def of_system(error: MetricError, system: str | None) -> MetricError:
    """Returns an error about predictions as one about those of a system."""
    if system is None:
        return error
    # The source that has the problem, or the one that has the ids.
    named = re.sub(r"^predictions(?=[:\[])|(?<= of )predictions(?=:)", lambda _: f"predictions[{system!r}]", error.problem, count=1)
    place = {"option": error.option, "index": error.index, "id": error.id, "side": error.side, "field": error.field}
    return MetricError(named, **place)  # type: ignore[arg-type]


def of_pairs(work: Work) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function that scores partitions whose rows have both sides."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        scorers = work.scorers()
        sums = _Sums(work, scorers)
        row = _partition() << _ROWS
        try:
            for batch in batches:
                if batch.num_rows:
                    sums.add(_outcomes(work, scorers, batch, first=row))
                row += batch.num_rows
        except MetricError as error:
            yield _batch([_row(work.slots, None, problem=_failed(error, work.has_ids))])
            return
        yield _batch(sums.rows())

    return score


def of_sides(work: Work) -> Callable[[Any, Any], Any]:
    """Returns a function that scores the references and predictions of some ids, or of some images."""

    def score(references: Any, predictions: Any) -> Any:
        import pyarrow

        return pyarrow.Table.from_batches([_batch(_of_sides(work, references, predictions))])

    return score


def _of_sides(work: Work, references: Any, predictions: Any) -> list[dict[str, Any]]:
    problems = _join(work, references, predictions)
    if problems:
        return [_row(work.slots, None, problem=problem) for problem in problems]
    scorers = work.scorers()
    try:
        outcomes = _of_tables(work, scorers, references, predictions)
    except MetricError as error:
        return [_row(work.slots, None, problem=_failed(error, True))]
    sums = _Sums(work, scorers)
    sums.add(outcomes)
    return sums.rows()


def _of_tables(work: Work, scorers: Sequence[Any], references: Any, predictions: Any) -> list[Any]:
    if work.categories is None:
        return _outcomes(work, scorers, references, predictions)
    truth, found, sides = _columns.documents(references, predictions, work.categories, work.fields, work.order)
    try:
        return [scorer.score_documents(found, truth) for scorer in scorers]
    except MetricError as error:
        raise _columns.located(error, sides) from None


def _join(work: Work, references: Any, predictions: Any) -> list[dict[str, Any]]:
    """Returns the reasons why two tables do not join. Counts of all parts add up, because each id is in one part."""
    import pyarrow.compute as compute

    def problem(kind: str, ids: Any) -> Iterator[dict[str, Any]]:
        if len(ids):
            named = sorted(str(id) for id in ids.unique().to_pylist())[:_NAMED] if len(ids) else []
            yield {"kind": kind, "count": len(ids), "ids": named}

    def repeated(side: str, ids: Any) -> Iterator[dict[str, Any]]:
        counts = ids.value_counts()
        several = compute.greater(compute.struct_field(counts, "counts"), 1)
        yield from problem(side, compute.struct_field(counts, "values").filter(several))

    is_objects = work.categories is not None
    name = "image" if is_objects else "id"
    # 17 and "17" are one id.
    mine, theirs = (side[name].cast("string").combine_chunks() for side in (references, predictions))
    for side, ids in (("references", mine), ("predictions", theirs)):
        if ids.null_count:
            return [{"kind": "record", "message": f"{side}: the {name} of a row is null", "ids": [""], "place": {}}]
    found: list[dict[str, Any]] = []
    if not is_objects:
        found += [*repeated("references", mine), *repeated("predictions", theirs)]
        if work.settings.get("missing", "error") == "error":
            found += problem("missing", mine.filter(compute.invert(compute.is_in(mine, value_set=theirs))))
    if work.settings.get("extra", "error") == "error":
        lacking = theirs.filter(compute.invert(compute.is_in(theirs, value_set=mine)))
        found += problem("unknown" if is_objects else "extra", lacking)
    return found


def merging(slots: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function that merges the states of a partition into one per metric. Problems are handed on."""

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        sums: dict[str, list[Any]] = {}
        for batch in batches:
            for metric, state, problem in zip(batch["metric"], batch["state"], batch["problem"]):
                if problem.is_valid:
                    yield _batch([_row(slots, None, problem=json.loads(problem.as_py()))])
                    continue
                waiting = sums.setdefault(metric.as_py(), [])
                waiting.append(_native.merge_part_bytes([state.as_py()]))
                if len(waiting) >= _MOST_WAITING:
                    waiting[:] = [_native.merge_outcomes(waiting)]
        for metric, waiting in sums.items():
            yield _batch([_row(slots, metric, state=_native.merge_outcomes(waiting).to_bytes())])

    return merge


def refusing(batches: Iterator[Any]) -> Iterator[Any]:
    """Hands on states, and fails with the first problem."""
    for batch in batches:
        refuse([problem for problem in batch["problem"].to_pylist() if problem is not None])
        yield batch.select(["metric", "state"])


def refuse(problems: Sequence[str]) -> None:
    """Raises the error of problems that parts found.

    Ids that do not join are counted over all parts. If several records cannot be read, the error is about the one
    with the first id.
    """
    found = [json.loads(problem) for problem in problems]
    totals: dict[str, tuple[int, set[str]]] = {}
    for problem in found:
        if problem["kind"] != "record":
            count, known = totals.get(problem["kind"], (0, set()))
            totals[problem["kind"]] = count + problem["count"], known | set(problem["ids"])
    if totals:
        listed = {kind: (count, sorted(ids)[:_NAMED]) for kind, (count, ids) in totals.items()}
        if "unknown" in listed:
            count, ids = listed["unknown"]
            named = ", ".join(json.dumps(id, ensure_ascii=False) for id in ids) + (", ..." if len(ids) == _NAMED else "")
            are = "detection is of an image" if count == 1 else "detections are of images"
            raise MetricError(
                f"predictions: {count} {are} that references do not have: {named}; to leave them out, use extra='ignore'",
                id=ids[0],
            )
        repeated: list[str] = [kind for kind in ("references", "predictions") if kind in listed]
        kinds = repeated[:1] or list(listed)
        raise _native.join_problems([(kind, *listed[kind]) for kind in kinds], "references", "predictions")
    if found:
        first = min(found, key=lambda problem: (len(problem["ids"][0]), problem["ids"][0], problem["message"]))
        raise MetricError(first["message"], **first["place"])


def of_samples(work: Work) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function that gives the scores of each example of partitions whose rows have both sides."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        scorers = work.scorers()
        row = _partition() << _ROWS
        for batch in batches:
            try:
                if batch.num_rows:
                    yield _samples(work, _outcomes(work, scorers, batch, first=row))
            except MetricError as error:
                refuse([json.dumps(_failed(error, work.has_ids))])
            row += batch.num_rows

    return score


def of_sides_samples(work: Work) -> Callable[[Any, Any], Any]:
    """Returns a function that gives the scores of each example of some ids, or of some images."""

    def score(references: Any, predictions: Any) -> Any:
        import pyarrow

        refuse([json.dumps(problem) for problem in _join(work, references, predictions)])
        outcomes = _of_tables(work, work.scorers(), references, predictions)
        return pyarrow.Table.from_batches([_samples(work, outcomes)])

    return score


def _samples(work: Work, outcomes: Sequence[Any]) -> Any:
    import pyarrow

    found = [(job.label, *row) for job, outcome in zip(work.jobs, outcomes) for row in outcome.sample_rows()]
    names = ("metric", "id", "part", "scores", "counts")
    columns = dict(zip(names, zip(*found))) if found else {name: () for name in names}
    text = pyarrow.string()
    kinds = dict(zip(names, (text, text, text, pyarrow.map_(text, pyarrow.float64()), text)))
    return pyarrow.record_batch([pyarrow.array(list(columns[name]), kinds[name]) for name in names], names=names)


def _batch(rows: list[dict[str, Any]]) -> Any:
    import pyarrow

    kinds = {"metric": pyarrow.string(), "slot": pyarrow.int32(), "state": pyarrow.binary(), "problem": pyarrow.string()}
    return pyarrow.record_batch(
        [pyarrow.array([row[name] for row in rows], kind) for name, kind in kinds.items()], names=list(kinds)
    )
