"""Scores data frames of Apache Spark: the same numbers as one process, to the last byte.

>>> from metric_suite import spark
>>> result = spark.score(frame, "wer", prediction="hypothesis", reference="transcript")  # doctest: +SKIP

Executors score their partitions and merge the states, so the driver holds a few states and no data. States merge
exactly: the result does not depend on partitions, on their order, or on tasks that run twice.
"""

from __future__ import annotations

import json as _json
import operator
import os
import warnings as _warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce as _reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from .. import _native
from .._compare import Comparison
from .._errors import MetricError
from .._metric import _SETTINGS, Metric, _compares, _of_outcome, _option_names, _parted, metric_name
from .._result import Result, result_of
from . import _columns, _work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Running", "compare", "samples", "score", "state"]

_Names = str | Sequence[str]
_Metrics = str | Sequence[str] | Mapping[str, Mapping[str, Any]]

# The most tasks that merge states, one number per round. The driver merges the states of the last round.
_TREE = (8,)
# Settings that do not apply here, with the reason.
_OTHERS = {
    "samples": "use metric_suite.spark.samples",
    "threads": "each task of Spark has one thread",
    "slices": "use by= with a column",
}


@overload
def score(  # pyright: ignore[reportOverlappingOverload]
    frame: DataFrame, metric: str, predictions: DataFrame | None = None, **options: Any
) -> Result: ...
@overload
def score(
    frame: DataFrame,
    metric: Sequence[str] | Mapping[str, Mapping[str, Any]],
    predictions: DataFrame | None = None,
    **options: Any,
) -> dict[str, Result]: ...
def score(frame: DataFrame, metric: _Metrics, predictions: DataFrame | None = None, **options: Any) -> Any:
    """Scores a frame whose rows have references and predictions, or two frames that are joined by id.

    Args:
        frame: The references, with their predictions if there is no second frame. For metrics of images, such as
            ``coco``, ground truth by rows: ``image_id``, ``category_id``, ``bbox`` and so on, as in COCO's files. A
            row without a class is an image, which may have no objects.
        metric: The name of a metric; a list of names; or a mapping of names to options. Several metrics are scored in
            one pass over the data. A label is the name of a metric, unless its options have another one as
            ``metric``.
        predictions: The predictions by id, or the detections by rows.
        prediction: The column of predictions.
        reference: The column of references; by default ``reference`` or ``references``.
        id: The column of ids; by default ``id``, if there is one. Two frames are joined by it, strictly.
        predictions_id: The column of ids of the second frame, if it has another name.
        by: The columns whose values divide the results into groups.
        json: The columns whose texts are JSON, such as grids and lanes; ``True`` for references and predictions.
        check_ids: Whether ids that occur twice in a single frame are an error. It takes a pass over the ids.
        categories: For objects, the names of classes by id, or a frame with ``id`` and ``name``; by default the
            classes of the ground truth.
        images: For objects, a frame with the images: ``id``, and ``height`` and ``width`` where masks are polygons.
        columns: For objects, columns with other names: ``{"image": "file", "class": "label"}``.
        order: For objects, the column that orders those of an image, as their positions in a file do. It decides
            between detections of equal scores. By default, objects are ordered by ``id``, or by their values.
        buckets: The number of parts that ids or images are divided into when frames are joined; by default
            ``spark.sql.shuffle.partitions``.
        tree: The most tasks that merge states, one number per round. The driver merges the states of the last round. Spark
            takes fewer tasks for small states. ``(64, 8)`` is for thousands of partitions with large states.
        options: The options of the metric, and ``missing``, ``extra``, ``confidence``, ``resamples``, ``seed``,
            ``cluster_field``, ``interval``, ``slice_bins`` and ``details``, as in other functions of the package.

    Returns:
        The result, or the results by name if several metrics are given.

    Raises:
        MetricError: An option, a column or a record is invalid.
    """
    plan = _Plan(frame, metric, predictions, options)
    found = {label: result_of(outcome) for label, outcome in plan.outcomes().items()}
    if not any(result.examples for result in found.values()):
        raise MetricError("the frame: has no examples: expected at least one")
    for result in found.values():
        for warning in result.warnings:
            _warnings.warn(warning, stacklevel=2)
    return found[metric] if isinstance(metric, str) else found


def state(frame: DataFrame, metric: _Metrics, predictions: DataFrame | None = None, **options: Any) -> DataFrame:
    """Returns the states of metrics as a frame with the columns ``metric`` and ``state``, one row per metric.

    A state is what ``metric score --state-out`` writes. ``metric_suite.merge`` merges those of several frames, and
    ``metric merge`` those in files. Takes the arguments of ``score``.
    """
    plan = _Plan(frame, metric, predictions, options)
    plan.check_ids()
    merged = plan.merged(plan.states(), (*plan.tree[:-1], 1))
    return merged.mapInArrow(_work.refusing, "metric string, state binary")


def samples(frame: DataFrame, metric: _Metrics, predictions: DataFrame | None = None, **options: Any) -> DataFrame:
    """Returns the scores of each example as a frame.

    The columns are ``metric``, ``id``, ``part`` (where a record has several examples), ``scores`` by name, and
    ``counts`` as JSON. Takes the arguments of ``score``.
    """
    plan = _Plan(frame, metric, predictions, options)
    plan.work = replace(plan.work, settings={**plan.work.settings, "samples": True})
    return plan.mapped(_work.of_samples, _work.of_sides_samples, _work.SAMPLES)


def compare(
    frame: DataFrame,
    metric: str,
    predictions: Mapping[str, DataFrame | str],
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    permutations: int | None = None,
    **options: Any,
) -> Comparison:
    """Compares systems on the same references, as ``metric compare`` does.

    Args:
        frame: The references.
        metric: The name of the metric.
        predictions: For each system, by name, a frame of its predictions, or the column of the frame that has them.
            Systems in columns are scored in one pass.
        baseline: The system that the others are compared with; by default the first.
        all_pairs: Whether all pairs of systems are compared.
        permutations: The number of random trials of a paired test.
        options: Those of ``score``. With ``missing="skip"``, references that any of the systems has no prediction for
            are left out of all of them.

    Returns:
        The JSON that the program prints, as a dict that notebooks show as tables.
    """
    chosen, settings = {"baseline": baseline, "all_pairs": all_pairs, "permutations": permutations}, options
    if settings.get("confidence") is None:
        settings = {**settings, "confidence": 0.95}
    in_columns = {name: column for name, column in predictions.items() if isinstance(column, str)}
    plans: dict[str, _Plan] = {}
    if in_columns:
        metrics = {name: {"metric": metric, "prediction": column} for name, column in in_columns.items()}
        plan = _Plan(frame, metrics, None, settings)
        plan.work = replace(plan.work, jobs=tuple(replace(job, system=job.label) for job in plan.work.jobs))
        plans.update(dict.fromkeys(in_columns, plan))
    in_frames = {name: other for name, other in predictions.items() if not isinstance(other, str)}
    for name, other in in_frames.items():
        with _about(name):
            plans[name] = _Plan(frame, metric, other, settings)
    if not plans:
        raise MetricError("no system to compare: expected the predictions of at least 2 systems")
    with _Pairing(plans if settings.get("missing") == "skip" else {}) as pairing:
        outcomes = plans[next(iter(in_columns))].outcomes(intervals=False) if in_columns else {}
        for name in in_frames:
            with _about(name):
                outcomes[name] = plans[name].outcomes(intervals=False)[metric]
    work = next(iter(plans.values())).work
    systems = [(name, outcomes[name], pairing.missing.get(name)) for name in predictions]
    own = {**work.settings, **chosen, "is_part": False, "threads": None}
    found = _native.compare_states(metric_name(metric), work.jobs[0].options, own, systems)
    return Comparison(_json.loads(found))


@contextmanager
def _about(system: str) -> Iterator[None]:
    """Says whose predictions an error is about."""
    try:
        yield
    except MetricError as error:
        raise _work.of_system(error, system) from None


class _Pairing:
    """Leaves references that a system has no prediction for out of all systems, for as long as the context lasts."""

    def __init__(self, plans: Mapping[str, _Plan]) -> None:
        self._plans = plans
        #: The number of references for which each system has no prediction.
        self.missing: dict[str, int] = {}
        self._left_out: DataFrame | None = None

    def __enter__(self) -> _Pairing:
        from pyspark.sql import functions

        # Rows of one frame have their predictions, and objects belong to images.
        joined = {name: plan for name, plan in self._plans.items() if plan.predictions is not None}
        joined = {name: plan for name, plan in joined.items() if plan.work.categories is None}
        if not joined:
            return self
        # A null is not an id, and becomes an error later.
        listed = next(iter(joined.values())).frame.select("id").where("id is not null")
        lacking = {}
        for place, (name, plan) in enumerate(joined.items()):
            assert plan.predictions is not None
            found = plan.predictions.select("id").distinct().withColumn(f"found{place}", functions.lit(True))
            listed = listed.join(found, "id", "left")
            lacking[name] = functions.col(f"found{place}").isNull()
        left_out = listed.where(_reduce(operator.or_, lacking.values())).persist()
        self._left_out = left_out
        counted = [functions.count(functions.when(lacks, True)) for lacks in lacking.values()]
        row = left_out.agg(functions.count("*"), *counted).collect()[0]
        self.missing = dict(zip(lacking, row[1:]))
        # If all systems lack the same, each of them leaves it out by itself.
        if len(joined) < len(self._plans) or any(count < row[0] for count in self.missing.values()):
            ids = left_out.select("id")
            for plan in {id(plan): plan for plan in self._plans.values()}.values():
                plan.frame = plan.frame.join(ids, "id", "left_anti")
                if plan.predictions is not None:
                    plan.predictions = plan.predictions.join(ids, "id", "left_anti")
        return self

    def __exit__(self, *_: object) -> None:
        if self._left_out is not None:
            self._left_out.unpersist()


class Running:
    """A running score of a stream, for ``foreachBatch``.

    The state is exact, so the result after any number of batches equals that of one run over all their rows. A batch
    that Spark repeats counts once. With a path, the state is stored after each batch, and a query that restarts from
    its checkpoint continues with it.

    >>> running = Running("wer", path="wer.state")  # doctest: +SKIP
    >>> query = stream.writeStream.foreachBatch(running).option("checkpointLocation", folder).start()  # doctest: +SKIP
    >>> running.result()["wer"]  # doctest: +SKIP

    Args:
        metric: The name of the metric.
        path: The file of the state: the number of the last batch, and a state of ``metric score --state-out``.
        options: Those of ``score``.
    """

    def __init__(self, metric: str, *, path: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self._metric, self._options = metric, options
        self._path = None if path is None else Path(path)
        self._state: bytes | None = None
        #: The number of the last batch that was added; ``None`` before the first one.
        self.last: int | None = None
        if self._path is not None and self._path.exists():
            number, _, self._state = self._path.read_bytes().partition(b"\n")
            self.last = int(number)

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Adds a batch."""
        if self.last is not None and batch <= self.last:
            return
        plan = _Plan(frame, self._metric, None, self._options)
        outcome = plan.outcomes(intervals=False)[self._metric]
        states = [outcome.to_bytes()] if self._state is None else [self._state, outcome.to_bytes()]
        self._state, self.last = _native.merge_part_bytes(states).to_bytes(), batch
        if self._path is not None:
            # A state file is complete or absent.
            partial = self._path.with_name(f"{self._path.name}.partial")
            partial.write_bytes(b"%d\n" % batch + self._state)
            os.replace(partial, self._path)

    def metric(self) -> Metric:
        """Returns the metric of all batches so far.

        Raises:
            MetricError: There was no batch yet.
        """
        if self._state is None:
            raise MetricError("no batch yet: expected at least one")
        return _of_outcome(_native.merge_bytes([("the state", self._state)])[0])

    def result(self) -> Result:
        """Returns the scores of all batches so far."""
        return self.metric().compute()


class _Plan:
    """The work to do on frames, from the arguments of ``score``."""

    def __init__(self, frame: DataFrame, metric: _Metrics, predictions: DataFrame | None, options: dict[str, Any]) -> None:
        options = dict(options)
        self.frame, self.predictions = frame, predictions
        take = options.pop
        prediction, reference = take("prediction", "prediction"), take("reference", None)
        self.id, self.predictions_id = take("id", None), take("predictions_id", None)
        by, texts = take("by", None), take("json", ())
        self.checks_ids = take("check_ids", True)
        given, images, order = take("columns", None), take("images", None), take("order", None)
        categories = take("categories", None)
        self.buckets: int | None = take("buckets", None)
        self.tree = tuple(take("tree", _TREE)) or (1,)
        for name, reason in _OTHERS.items():
            if options.get(name) is not None:
                raise MetricError(f"{name} is not an option on Spark: {reason}", option=name)
        chosen, settings = _parted(options, _SETTINGS)
        settings = {name: value for name, value in settings.items() if value is not None}
        if by is not None:
            settings["slice_field"] = by if isinstance(by, str) else list(by)
        settings |= {"threads": 1, "is_part": True}
        metrics = _named(metric, chosen)
        is_objects = predictions is not None and all(self._are_objects(it[1], given) for it in metrics)
        if is_objects:
            self.objects = _columns.named(frame.columns, given), _columns.named(predictions.columns, given)  # type: ignore[union-attr]
            reference = "class"
        elif not all(_compares(name) for _, name, _ in metrics):
            reference = prediction
        elif reference is None:
            reference = "references" if {"reference", "references"} & set(frame.columns) == {"references"} else "reference"
        jobs = tuple(self._job(label, name, own, prediction, is_objects) for label, name, own in metrics)
        if texts is True:
            texts = {reference, *(job.prediction for job in jobs)}
        has_ids = self._find_ids(is_objects)
        work = _work.Work(jobs, settings, reference, has_ids, json=frozenset([texts] if isinstance(texts, str) else texts))
        # All problems with the options are found before a job starts.
        scorers = work.scorers()
        for scorer in scorers:
            scorer.nothing()
        wanted = {name for scorer in scorers for name in scorer.fields}
        if settings.keys() & {"confidence", "resamples", "seed", "cluster_field", "interval"} and not has_ids:
            raise MetricError("intervals need ids, which decide how often a record counts: expected id=", option="id")
        asked = {name.split(":")[0] for name in _listed(by)} | set(_listed(settings.get("cluster_field")))
        own_columns = set(frame.columns) | (set(images.columns) if images is not None else set())
        for name in sorted(asked - own_columns):
            raise MetricError(f"no column {name!r}: expected one of {', '.join(frame.columns)}", field=name)
        self.work = replace(work, fields=tuple(sorted(wanted & own_columns)), slots=self.tree[0], order=order)
        if is_objects:
            self._take_objects(images, categories)
        else:
            self._take_records()

    def _are_objects(self, metric: str, given: Mapping[str, str] | None) -> bool:
        """Whether frames have one object per row rather than one image."""
        if _native.reads(metric) == "records":
            return False
        names = _columns.named(self.frame.columns, given)
        return {"image", "class"} <= names.keys() and "reference" not in self.frame.columns

    def _job(self, label: str, metric: str, own: dict[str, Any], prediction: str, is_objects: bool) -> _work.Job:
        own = dict(own)
        column = own.pop("prediction", prediction)
        names = [name.replace("-", "_") for name in _option_names(metric)]
        weights = own.pop("weights", None) if "weight_field" in names else None
        if weights is not None:
            own["weight_field"] = weights
        is_ranked = "input" in names and not is_objects
        if is_ranked and own.get("input") is None:
            other = self.frame if self.predictions is None else self.predictions
            kinds = {field.name: field.dataType.simpleString() for field in other.schema.fields}
            if kinds.get(column) in ("array<float>", "array<double>"):
                own["input"] = "scores"
        return _work.Job(label, metric, own, column, is_ranked)

    def _find_ids(self, is_objects: bool) -> bool:
        """Finds the columns of ids. Returns whether rows have ids."""
        if is_objects:
            return True
        if self.id is None and ("id" in self.frame.columns or self.predictions is not None):
            self.id = "id"
        self.predictions_id = self.predictions_id or self.id
        return self.id is not None

    def _select(self, frame: DataFrame, columns: Mapping[str, str], side: str, ids: Sequence[str] = ()) -> DataFrame:
        """Returns the columns that are needed, by their names here."""
        from pyspark.sql import functions

        known = frame.schema.fieldNames()
        for name, column in columns.items():
            if column not in known:
                raise MetricError(f"{side}: no column {column!r}: expected one of {', '.join(known)}", field=column)
        kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        for name in ids:
            kind = kinds[columns[name]]
            if kind not in ("string", "tinyint", "smallint", "int", "bigint") and not kind.startswith(("char", "varchar")):
                problem = f"{side}: column {columns[name]}: found {kind}: expected strings or integers as ids"
                raise MetricError(problem, field=columns[name])
        chosen = []
        for name, column in columns.items():
            value = functions.col(f"`{column}`")
            chosen.append((value.cast("string") if name == "id" and "id" in ids else value).alias(name))
        return frame.select(*chosen)

    def _take_records(self) -> None:
        work = self.work
        mine = {name: name for name in (work.reference, *work.fields)}
        theirs = {job.prediction: job.prediction for job in work.jobs}
        ids = ("id",) if work.has_ids else ()
        if self.predictions is None:
            columns = {**mine, **theirs, **({"id": self.id} if work.has_ids else {})}
            self.frame = self._select(self.frame, columns, "the frame", ids)
        else:
            self.frame = self._select(self.frame, {**mine, "id": self.id}, "references", ids)
            other = {**theirs, "id": self.predictions_id}
            self.predictions = self._select(self.predictions, other, "predictions", ids)

    def _take_objects(self, images: DataFrame | None, categories: Any) -> None:
        from pyspark.sql import functions

        work, (mine, theirs) = self.work, self.objects
        order = {} if work.order is None else {work.order: work.order}
        predictions = self.predictions
        assert predictions is not None
        for side, names, frame in (("references", mine, self.frame), ("predictions", theirs, predictions)):
            if not {"image", "class"} <= names.keys():
                known = ", ".join(frame.columns)
                raise MetricError(f"{side}: no columns of image and class: expected image_id and category_id among {known}")
        fields = {name: name for name in work.fields if name in self.frame.columns}
        of_truth = {name: column for name, column in order.items() if column in self.frame.columns}
        truth = self._select(self.frame, {**fields, **of_truth, **mine}, "references", ("image",))
        if images is not None:
            names = _columns.named(images.columns)
            names["image"] = next(name for name in ("image_id", "image", "id") if name in images.columns)
            names = {name: names[name] for name in ("image", "height", "width", "file_name") if name in names}
            further = {name: name for name in work.fields if name in images.columns}
            listed = self._select(images, {**further, **names}, "images", ("image",))
            truth = truth.drop(*(set(truth.columns) & set(listed.columns) - {"image"}))
            truth = truth.unionByName(listed, allowMissingColumns=True)
        found = {name: column for name, column in theirs.items() if name not in ("area", "crowd", "ignore")}
        found |= {name: column for name, column in order.items() if column in predictions.columns}
        self.predictions = self._select(predictions, found, "predictions", ("image",))
        if categories is None:
            rows = truth.select("class").where("class is not null").distinct().collect()
            listed_classes = sorted(((row[0], str(row[0])) for row in rows), key=lambda it: (isinstance(it[0], str), it[0]))
        elif isinstance(categories, Mapping):
            listed_classes = [(key, str(name)) for key, name in categories.items()]
        else:
            listed_classes = [(row["id"], str(row["name"])) for row in categories.select("id", "name").collect()]
        self.frame = truth
        self.work = replace(work, categories=tuple(listed_classes))

    def check_ids(self) -> None:
        """Fails if an id occurs twice in a single frame. When frames are joined, tasks check this."""
        if self.predictions is not None or not self.work.has_ids or not self.checks_ids:
            return
        counted = self.frame.groupBy("id").count().where("count > 1")
        named = [row["id"] for row in counted.orderBy("id").limit(5).collect()]
        if named:
            # A null is not an id.
            if None in named:
                raise MetricError("the id of a row is null: expected strings or integers", field=self.id)
            raise _native.join_problems([("the frame", counted.count(), named)], "", "")

    def mapped(self, of_pairs: Any, of_sides: Any, schema: str) -> DataFrame:
        """Returns what executors find, partition by partition or in parts that hold the same ids."""
        if self.predictions is None:
            return self.frame.mapInArrow(of_pairs(self.work), schema)
        from pyspark.sql import functions

        name = "id" if self.work.categories is None else "image"
        session = self.frame.sparkSession
        buckets = self.buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 200)

        def grouped(frame: DataFrame) -> Any:
            # 17 and "17" are one id.
            return frame.groupBy(functions.pmod(functions.hash(functions.col(name).cast("string")), buckets))

        joined = grouped(self.frame).cogroup(grouped(self.predictions))
        found: DataFrame = joined.applyInArrow(of_sides(self.work), schema)
        return found

    def states(self) -> DataFrame:
        return self.mapped(_work.of_pairs, _work.of_sides, _work.STATES)

    def merged(self, states: DataFrame, tree: Sequence[int]) -> DataFrame:
        """Returns the states, merged in rounds of ever fewer tasks."""
        from pyspark.sql import functions

        for tasks, following in zip(tree, (*tree[1:], 1)):
            # Without a number of partitions, so that few tasks merge small states.
            states = states.repartition(functions.col("slot") % tasks)
            states = states.mapInArrow(_work.merging(following), _work.STATES)
        return states

    def outcomes(self, intervals: bool = True) -> dict[str, Any]:
        """Returns the outcome of each job."""
        self.check_ids()
        rows = self.merged(self.states(), self.tree).collect()
        problems = [row["problem"] for row in rows if row["problem"] is not None]
        _work.refuse(problems)
        found = {}
        for job, scorer in zip(self.work.jobs, self.work.scorers()):
            written = [bytes(row["state"]) for row in rows if row["metric"] == job.label]
            # Without partitions there is no state.
            written += 2 * [scorer.nothing().to_bytes()]
            if intervals:
                found[job.label], _ = _native.merge_bytes([("the frame", state) for state in written])
            else:
                found[job.label] = _native.merge_part_bytes(written)
        return found


def _listed(names: _Names | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _named(metric: _Metrics, options: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Returns the label, the name and the options of each metric."""
    if isinstance(metric, str):
        return [(metric, metric_name(metric), options)]
    if not isinstance(metric, Mapping):
        metric = {name: {} for name in metric}
    if not metric:
        raise MetricError("no metric: expected at least one")
    found = []
    for label, own in metric.items():
        chosen = {**options, **own}
        found.append((label, metric_name(chosen.pop("metric", label)), chosen))
    return found
