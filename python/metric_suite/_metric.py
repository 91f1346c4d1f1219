"""Metrics as objects that take data in batches, and the functions that score at once."""

from __future__ import annotations

import os
import sys
import warnings as _warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from . import _native
from ._boxes import BOX_FORMATS, Boxes, Wanted, is_data_set, is_per_image
from ._errors import MetricError
from ._images import are_images, images_of
from ._result import Result, result_of
from ._values import answers_by_id, are_scores, as_labels, indicator_rows, plain_values, with_way_out

if TYPE_CHECKING:
    from typing_extensions import Self

# The settings of a run. The options of the metric are not among them.
_SETTINGS = frozenset(
    {
        "samples",
        "details",
        "threads",
        "max_bytes",
        "missing",
        "extra",
        "null",
        "as_text",
        "where",
        "confidence",
        "resamples",
        "seed",
        "cluster_field",
        "interval",
        "slice_field",
        "slices",
        "slice_bins",
        "scores",
        "sort",
        "box_format",
    }
)
# Further settings of a run that reads files.
_FILE_SETTINGS = frozenset(
    {
        "id_field",
        "references_id_field",
        "predictions_id_field",
        "reference_field",
        "prediction_field",
        "prediction_fields",
        "input_format",
        "references_format",
        "predictions_format",
        "split",
        "references_split",
        "predictions_split",
        "delimiter",
        "quote",
        "header",
        "empty_field",
        "encoding",
        "speaker",
        "speaker_prefix",
        "level",
        "tier",
    }
)


_SIDES = {"predictions": "prediction", "references": "reference"}


def metric_name(name: Any) -> Any:
    """Returns the name of a metric with hyphens, which functions write as underscores."""
    return name.replace("_", "-") if isinstance(name, str) else name


def is_files(value: Any) -> bool:
    """Whether a value is the path of a file, or a list of such paths."""
    is_list = isinstance(value, (list, tuple)) and len(value) > 0
    return isinstance(value, (str, os.PathLike)) or is_list and all(isinstance(path, os.PathLike) for path in value)


# The default of an argument that must be given.
REQUIRED: Any = object()


def sides_of(metric: str) -> list[str]:
    """The arguments with the data: a metric of samples has no references."""
    return ["predictions", "references"] if _compares(metric) else ["predictions"]


def refuse_call(name: str, needed: Iterable[str], given: tuple[Any, ...], named: Iterable[str]) -> None:
    """Refuses a call with positional arguments, or without all that it needs, with the form that it has.

    The packages for these metrics disagree on the order of predictions and references.
    """
    form = ", ".join(argument if argument == "metric" else f"{argument}=..." for argument in needed)
    if given:
        raise TypeError(f"{name}() takes keyword arguments: expected {name}({form}), found {len(given)} without a keyword")
    missing = [argument for argument in needed if argument not in named]
    if missing:
        count = f"{len(missing)} required keyword-only argument{'' if len(missing) == 1 else 's'}"
        raise TypeError(f"{name}() missing {count}: {' and '.join(map(repr, missing))}: expected {name}({form})")


def _parted(arguments: dict[str, Any], known: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the options of the metric and the settings of the run."""
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for name, value in arguments.items():
        (settings if name in known else options)[name] = value
    return options, settings


def _side(value: Any, name: str) -> Any:
    """Returns one side of a data set as the engine takes it: JSON text or columns."""
    if isinstance(value, Boxes):
        return value._columns(name)
    if hasattr(value, "dataset"):  # A `COCO` of pycocotools.
        value = value.dataset
        return _native.dumps(value.get("annotations", []) if name == "predictions" else value, name)
    if isinstance(value, (str, os.PathLike)):
        return _text(value, name)
    return _native.dumps(value, name)


def _text(path: Any, name: str) -> str:
    """Returns the text of a file of JSON. Other files, and folders, are read by ``score_files``."""
    found = os.fspath(path)
    if os.path.isdir(found):
        problem = "is a folder: expected a file of JSON (score_files and update_files read folders)"
        raise MetricError(f"{name}: {found!r} {problem}", side=_SIDES[name])
    with open(path, encoding="utf-8") as file:
        try:
            return file.read()
        except UnicodeDecodeError:
            problem = "is not a text: expected a file of JSON (score_files and update_files read other formats)"
            raise MetricError(f"{name}: {found!r} {problem}", side=_SIDES[name]) from None


@cache
def _compares(name: str) -> bool:
    """Whether a metric compares predictions with references."""
    return all(entry["compares"] for entry in _entries() if entry["name"] == name)


def _scored(
    scorer: Any,
    predictions: Any,
    references: Any,
    ids: Any = None,
    fields: Any = None,
    settings: Mapping[str, Any] | None = None,
    box_format: str | None = None,
) -> Any:
    fields = _columns_of(fields)
    if not _compares(scorer.metric):
        if references is not None:
            raise MetricError(f"references: {scorer.metric} has none: expected only predictions", side="reference")
        if is_files(predictions):
            return _scored_files(scorer, None, predictions, settings or {})
        if isinstance(predictions, Mapping):
            ids = list(predictions) if ids is None else ids
            predictions = list(predictions.values())
        # Both sides of a record are its prediction.
        predictions = plain_values(predictions)
        return scorer.score_values(predictions, predictions, ids, fields)
    pictures = _pictures(scorer.metric)
    if pictures is None and type(references) is list and type(predictions) is list and references and type(references[0]) is str:
        # Lists of texts, with or without ids and fields.
        return scorer.score_values(predictions, references, ids, fields)
    if settings is not None or not _reads_records(scorer):
        is_file = is_files
    else:
        # A text of its own is more often a mistake than a path.
        def is_file(value: Any) -> bool:
            return is_files(value) and not isinstance(value, str)

    files = [is_file(value) and not _are_pictures(value, pictures) for value in (references, predictions)]
    if any(files) and (all(files) or _reads_records(scorer)):
        if ids is not None or fields is not None:
            raise MetricError("ids and fields are for values: files have their own")
        if all(files):
            return _scored_files(scorer, references, predictions, settings or {})
        sources = _source(references, "reference", "references"), _source(predictions, "prediction", "predictions")
        return scorer.score_files(*sources, dict(settings or {}))
    if pictures is not None:
        field = pictures[0]
        if isinstance(references, Mapping) and isinstance(predictions, Mapping) and any(are_images(side, field) for side in (references, predictions)):
            if ids is not None or fields is not None:
                raise MetricError("ids and fields are for values: mappings have ids of their own")
            sides = [images_of(list(side.values()), name, field) for side, name in ((predictions, "predictions"), (references, "references"))]
            return scorer.score_values(*sides, list(references), None, list(predictions))
        predictions, references = images_of(predictions, "predictions", field), images_of(references, "references", field)
    incomplete = _native.reads(scorer.metric) == "documents"
    if is_data_set(references) or is_per_image(references, incomplete) or is_per_image(predictions, incomplete):
        if ids is not None or fields is not None:
            raise MetricError("ids and fields are for values: a data set has its own")
        if isinstance(references, (str, os.PathLike)) and _reads_records(scorer):
            found = "one string" if isinstance(references, str) else "a path"
            expected = "expected a sequence of values, such as a list of strings, or a pathlib.Path of a file (score_files takes texts as paths)"
            raise MetricError(f"references: found {found}: {expected}", side="reference")
        if isinstance(references, Mapping) and not isinstance(predictions, Mapping) and _reads_records(scorer):
            problem = f"found a mapping, but predictions are {type(predictions).__name__}: expected two mappings of ids to values"
            raise MetricError(f"references: {problem}, or two sequences", side="reference")
        shape = "mask" if scorer.reads_masks else "corners" if scorer.reads_corners else "box"
        wanted = Wanted(shape, scorer.reads_boxes_of_masks, box_format or "xyxy")
        predictions, references = Boxes.pair(predictions, references, incomplete=incomplete, wanted=wanted)
        if scorer.reads_boxes and type(references) is dict and type(predictions) is list:
            found = scorer.score_dicts(predictions, references)
            if found is not None:
                return found
        truth = _side(references, "references")
        if isinstance(references, Mapping) and isinstance(predictions, Mapping):
            # Mappings of ids to values, unless the metric recognizes the references as one of its data sets.
            if not _native.is_document(scorer.metric, truth):
                return _joined(scorer, predictions, references)
        return scorer.score_documents(_side(predictions, "predictions"), truth)
    true_answers, answers = answers_by_id(references, "references"), answers_by_id(predictions, "predictions")
    if true_answers is not None and answers is not None and ids is None and fields is None:
        return _joined(scorer, answers, true_answers)
    predictions, references = plain_values(predictions), plain_values(references)
    if scorer.metric == "multilabel":
        predictions, references = indicator_rows(predictions, references)
    if not _takes_labels(scorer.metric):
        return scorer.score_values(predictions, references, ids, fields)
    if scorer.metric != "classification-scores":
        # There, True and False are classes of their own.
        predictions, references = as_labels(predictions), as_labels(references)
    try:
        return scorer.score_values(predictions, references, ids, fields)
    except MetricError as error:
        raise with_way_out(error, references if error.side == "reference" else predictions) from None


@cache
def _pictures(name: str) -> tuple[str, list[str]] | None:
    """Returns the field of a value that is a picture, or an empty string if the value is, and the endings of files that are values.

    ``None`` for metrics without pictures.
    """
    return _native.pictures(name)


def _are_pictures(value: Any, pictures: tuple[str, list[str]] | None) -> bool:
    """Whether a list of paths names a picture per example, and not files of records."""
    if pictures is None or not isinstance(value, (list, tuple)):
        return False
    endings = tuple(f".{ending}" for ending in pictures[1])
    return any(os.fsdecode(path).lower().endswith(endings) for path in value)


@cache
def takes_boxes(name: str) -> bool:
    """Whether a metric takes a list with the boxes of each image."""
    shapes = {shape["name"] for entry in _entries() if entry["name"] == name for shape in entry["shapes"]}
    return not shapes.isdisjoint({"images", "boxes"})


@cache
def _takes_labels(name: str) -> bool:
    """Whether references are labels."""
    shapes = {shape["name"] for entry in _entries() if entry["name"] == name for shape in entry["shapes"]}
    return not shapes.isdisjoint({"labels", "label-scores", "ranked-labels", "class-scores"})


def _source(value: Any, field: str, name: str) -> Any:
    """Returns one side as files, or as the lines of a file; values without ids are counted from 1, as lines of a text are."""
    if is_files(value):
        return _existing(value)
    _refuse_set(value, name)
    if isinstance(value, Mapping):
        return _native.json_lines(value.keys(), value.values(), field, name, True)
    values = value.to_pylist() if hasattr(value, "to_pylist") else list(value)
    return _native.json_lines(range(1, len(values) + 1), values, field, name, False)


def _reads_records(scorer: Any) -> bool:
    return _native.reads(scorer.metric) == "records"


@cache
def _option_names(name: str) -> frozenset[str]:
    return frozenset(option["name"] for entry in _entries() if entry["name"] == name for option in entry["options"])


@cache
def _plain_scorer(name: str) -> Any:
    """Returns the scorer of a metric without options."""
    return _native.Scorer(name, {}, {})


@cache
def _scores_options(name: str) -> dict[str, str]:
    """Returns the options without which a metric takes no scores of classes; none if it takes no others."""
    shapes: list[dict[str, Any]] = next((entry["shapes"] for entry in _entries() if entry["name"] == name), [])
    return next((shape["options"] for shape in shapes if shape["name"] == "class-scores"), {})


def _with_input(name: str, options: dict[str, Any], predictions: Any = None) -> dict[str, Any]:
    """Returns the options of a metric with those for scores of classes, if scores are given where it ranks labels, too."""
    wanted = _scores_options(name)
    if not wanted or any(options.get(option) is not None for option in wanted):
        return options
    is_scores = options.get("ties") is not None or are_scores(predictions)
    return {**options, **wanted} if is_scores else options


def _kept(name: str, predictions: Any) -> Any:
    """Returns predictions that can be looked at: an iterator, which is read once, as a list."""
    return list(predictions) if hasattr(predictions, "__next__") and _scores_options(name) else predictions


def _joined(scorer: Any, predictions: Mapping[Any, Any], references: Mapping[Any, Any]) -> Any:
    """Scores two mappings of ids to values."""
    if _takes_labels(scorer.metric) and scorer.metric != "classification-scores":
        predictions, references = as_labels(predictions), as_labels(references)
    return scorer.score_files(
        _native.json_lines(references.keys(), references.values(), "reference", "references", True),
        _native.json_lines(predictions.keys(), predictions.values(), "prediction", "predictions", True),
        {},
    )


def _warned(result: Result) -> Result:
    if result.warnings:
        # The warning belongs to the first frame outside of this package.
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("metric_suite."):
            level, frame = level + 1, frame.f_back
        for warning in result.warnings:
            if warning not in _GIVEN:
                _warnings.warn(warning, stacklevel=level)
            if warning.startswith(_ONCE):
                _GIVEN.add(warning)
    return result


# A warning about the conventions of a metric, which is the same for all data: a process gives it once.
_ONCE = "syntax_match and dataflow_match come from current grammars"
_GIVEN: set[str] = set()


class Metric:
    """A metric that takes data in batches.

    Args:
        name: The name of the metric, as ``metric_suite.metrics()`` lists it.
        options: The options of the metric by name, and ``samples``, ``threads``, ``confidence``, ``resamples``,
            ``seed``, ``cluster_field``, ``slice_field`` and so on, as in the program.

    The state is a sum of counts: the result is the same for any division into batches, in any order.

    >>> import metric_suite
    >>> metric = metric_suite.Metric("wer")
    >>> metric.update(["the cat"], ["the cat sat"]).update(["a dog"], ["a dog"]).compute()["wer"]
    0.2
    """

    _name: str | None = None

    def __init__(self, name: str | None = None, **options: Any) -> None:
        name = metric_name(name) or self._name
        if name is None:
            raise TypeError("Metric() needs the name of a metric")
        self._chosen = dict(options)
        self.name = name
        self._start()

    def _start(self) -> None:
        options, self._settings = _parted(self._chosen, _SETTINGS | _FILE_SETTINGS)
        options = _with_input(self.name, options)
        _check_box_format(self.name, self._settings)
        self._scorer = _native.Scorer(self.name, options, self._settings)
        self._outcome = self._scorer.nothing()
        self._columns: dict[str, list[Any]] | None = None

    @property
    def signature(self) -> str:
        """The metric, its options and its version: equal signatures give equal scores on equal data."""
        return self._outcome.signature

    @property
    def options(self) -> dict[str, Any]:
        """The options that were given."""
        return dict(self._chosen)

    def update(self, predictions: Any, references: Any = None, *, ids: Any = None, fields: Mapping[str, Any] | None = None) -> Self:
        """Adds a batch: all of it, or nothing if something is wrong with it.

        Args:
            predictions: One value per example.
            references: The references, which a metric such as ``pass-at-k`` does not have.
            ids: An id per example.
            fields: Further columns by name.

        Returns:
            The metric itself.
        """
        self._add(self._score(predictions, references, ids, fields))
        return self

    def _score(self, predictions: Any, references: Any, ids: Any = None, fields: Any = None) -> Any:
        predictions = _kept(self.name, predictions)
        chosen = _with_input(self.name, self._chosen, predictions)
        # The first batch says that predictions are scores. A later one must have what the first had.
        if chosen is not self._chosen and self._is_empty():
            self._chosen = chosen
            self._start()
        return _scored(self._scorer, predictions, references, ids, fields, box_format=self._settings.get("box_format"))

    def _is_empty(self) -> bool:
        return result_of(self._outcome).examples == 0

    def update_files(self, references: Any = None, predictions: Any = None, *, more_references: Any = None, **options: Any) -> Self:
        """Adds files, as ``score_files`` reads them.

        Args:
            references: The references: a path, a pattern, or a list of paths.
            predictions: The predictions in the same forms; ``None`` if the file of the references has both sides.
            more_references: A file with a further reference of each record, or a list of such files.
            options: Options of reading: ``missing``, ``extra``, ``id_field`` and so on.

        Returns:
            The metric itself.
        """
        unknown = [name for name in options if name not in _FILE_SETTINGS | {"missing", "extra"}]
        if unknown:
            raise TypeError(f"update_files() got an unexpected keyword argument {unknown[0]!r}")
        scorer, settings = self._scorer, {**self._settings, **options}
        if settings != self._settings or more_references is not None:
            own, _ = _parted(self._chosen, _SETTINGS | _FILE_SETTINGS)
            further = _further(more_references)
            scorer = _native.Scorer(self.name, _with_input(self.name, own), settings | further)
        outcome = _scored_files(scorer, references, predictions, settings)
        if settings != self._settings and self._is_empty():
            # These settings are part of the signature, which the first batch decides.
            self._chosen = {**self._chosen, **options}
            self._start()
        self._add(outcome)
        return self

    def _add(self, outcome: Any) -> None:
        merged = self._outcome.merged(outcome)
        columns = outcome.samples()
        self._outcome = merged
        if columns is not None:
            self._columns = _appended(self._columns, columns)

    def compute(self) -> Result:
        """Returns the scores of all data so far."""
        result = result_of(self._outcome)
        if self._columns is not None:
            from ._result import Samples

            result.samples = Samples(self._columns)
        return _warned(result)

    def reset(self) -> Self:
        """Forgets all data.

        Returns:
            The metric itself.
        """
        self._outcome = self._scorer.nothing()
        self._columns = None
        return self

    def copy(self) -> Self:
        """Returns a metric with the same options and data."""
        other = self._empty()
        other._outcome, other._columns = self._outcome, self._columns
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def _empty(self) -> Self:
        other = type(self).__new__(type(self))
        other._chosen, other.name = dict(self._chosen), self.name
        other._start()
        return other

    def merge(self, other: Metric | bytes) -> Self:
        """Adds the data of another metric, or of its written state.

        Returns:
            The metric itself.
        """
        if not isinstance(other, Metric):
            other = Metric.from_bytes(other)
        self._outcome = self._outcome.merged(other._outcome)
        if other._columns is not None:
            self._columns = _appended(self._columns, other._columns)
        return self

    def __add__(self, other: Metric | bytes) -> Self:
        return self.copy().merge(other)

    def __iadd__(self, other: Metric | bytes) -> Self:
        return self.merge(other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """Returns the state, with the name of the metric and its options: the bytes of ``metric score --state-out``."""
        return self._outcome.to_bytes()

    @classmethod
    def from_bytes(cls, state: bytes) -> Metric:
        """Returns the metric whose state was written."""
        outcome, _ = _native.merge_bytes([("the state", bytes(state))])
        return _of_outcome(outcome)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.name, self._chosen, self.to_bytes(), self._columns)

    def __call__(self, predictions: Any, references: Any = None) -> Result:
        """Returns the scores of a batch, and adds it."""
        outcome = self._score(predictions, references)
        self._add(outcome)
        return result_of(outcome)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._chosen.items())
        return f"<{type(self).__name__} {self.name!r}{options}>"


def _unpickled(
    kind: type[Metric], name: str, chosen: dict[str, Any], state: bytes, columns: dict[str, list[Any]] | None
) -> Metric:
    metric = kind.__new__(kind)
    metric._chosen, metric.name = dict(chosen), name
    metric._start()
    metric._outcome, _ = _native.merge_bytes([("the state", state)])
    metric._columns = columns
    return metric


def _of_outcome(outcome: Any) -> Metric:
    name = outcome.metric
    flags = {
        option["name"] for entry in _entries() if entry["name"] == name for option in entry["options"]
        if option["kind"] == "flag"
    }
    chosen = {
        option.replace("-", "_"): True if option in flags else value for option, value in outcome.options.items()
    }
    kind = _classes().get(name, Metric)
    metric = kind.__new__(kind)
    metric._chosen, metric.name = chosen, name
    metric._start()
    metric._outcome = outcome
    return metric


def _appended(columns: dict[str, list[Any]] | None, more: dict[str, list[Any]]) -> dict[str, list[Any]]:
    if columns is None:
        return {name: list(values) for name, values in more.items()}
    rows, added = len(columns["id"]), len(more["id"])
    for name in more:
        columns.setdefault(name, [None] * rows)
    for name, values in columns.items():
        values.extend(more.get(name, [None] * added))
    return columns


def _existing(paths: Any) -> Any:
    """Returns one or several paths as a list. Paths must exist, and patterns are not expanded."""
    _refuse_set(paths, "paths")
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    for path in listed:
        text = os.fspath(path)
        if not os.path.exists(text) and not any(letter in str(text) for letter in "*?["):
            raise FileNotFoundError(2, "no such file", text)
    return listed


def _further(more_references: Any) -> dict[str, Any]:
    """Returns the setting of files with further references."""
    return {} if more_references is None else {"more_references": _existing(more_references)}


def _scored_files(scorer: Any, references: Any, predictions: Any, settings: Mapping[str, Any]) -> Any:
    if not _compares(scorer.metric):
        if references is not None or predictions is None:
            problem = f"{scorer.metric} has no references: expected only predictions=, the path of a file"
            raise MetricError(problem, side="reference")
        return scorer.score_files(_existing(predictions), None, dict(settings))
    if references is None:
        raise TypeError("missing the argument 'references'")
    found = None if predictions is None else _existing(predictions)
    return scorer.score_files(_existing(references), found, dict(settings))


def score(
    metric: str,
    *given: Any,
    predictions: Any = REQUIRED,
    references: Any = None,
    ids: Any = None,
    fields: Any = None,
    **options: Any,
) -> Result:
    """Scores predictions against references.

    Args:
        metric: The name of the metric.
        predictions: One value per example: a list, a numpy array, or an array of pyarrow, polars, pandas. Or a mapping
            of ids to values. Or, for metrics of data sets, the data set: a path, a dict, ``Boxes``.
        references: The references in the same forms; a metric such as ``pass-at-k`` has none.
        ids: An id per example, for messages and samples.
        fields: Further columns by name, such as weights, clusters or slices.
        options: The options of the metric; ``samples``, ``threads``, ``confidence`` and so on.

    Raises:
        MetricError: An option or a value is invalid. Nothing is scored then.

    >>> import metric_suite
    >>> metric_suite.score("string-accuracy", predictions=["a", "b"], references=["a", "c"])["string_accuracy"]
    0.5
    """
    metric = metric_name(metric)
    if given or predictions is REQUIRED:
        refuse_call("score", ["metric", *sides_of(metric)], given, ["metric"] if predictions is REQUIRED else ["metric", "predictions"])
    if references is None and _compares(metric):
        raise TypeError("score() missing 1 required keyword-only argument: 'references'")
    if not options and not _scores_options(metric):
        scorer = _plain_scorer(metric)
        if ids is None and fields is None:
            found = scorer.score_texts(predictions, references)
            if found is not None:
                result = Result()
                result._scores, result._texts = found
                result._scorer = scorer
                return result
        return _warned(result_of(_scored(scorer, predictions, references, ids, fields)))
    options, settings = _parted(options, _SETTINGS)
    _check_box_format(metric, settings)
    predictions = _kept(metric, predictions)
    options, fields = _with_weights(metric, options, fields, predictions)
    scorer = _native.Scorer(metric, _with_input(metric, options, predictions), settings)
    box_format = settings.get("box_format")
    return _warned(result_of(_scored(scorer, predictions, references, ids, fields, box_format=box_format)))


def _check_box_format(metric: str, settings: Mapping[str, Any]) -> None:
    """Refuses a format of boxes that is not known, and one for a metric without boxes."""
    found = settings.get("box_format")
    if found is None:
        return
    if not takes_boxes(metric):
        raise MetricError(f"box_format: {metric} has no boxes in dicts", option="box_format")
    if found not in BOX_FORMATS:
        raise MetricError(f"box_format={found!r}: expected one of {', '.join(BOX_FORMATS)}", option="box_format")


def _with_weights(
    metric: str, options: dict[str, Any], fields: Any, predictions: Any
) -> tuple[dict[str, Any], Any]:
    """Returns the options and the fields of a call with its weights, an argument of their own, as a field."""
    if "weight-field" not in _option_names(metric):
        if options.get("sample_weight") is not None and metric == "classification":
            instead = "multilabel has precision, recall and F1 with weights, of lists of one label"
            raise MetricError(f"sample_weight: classification counts whole examples: {instead}", option="sample_weight")
        return options, fields
    given = {name: options[name] for name in ("weights", "sample_weight") if options.get(name) is not None}
    options = {name: value for name, value in options.items() if name not in ("weights", "sample_weight")}
    if len(given) == 2:
        raise MetricError("weights and sample_weight are the same: expected one of them", option="sample_weight")
    if not given:
        return options, fields
    [(name, weights)] = given.items()
    chosen, wanted = _with_input(metric, options, predictions), _scores_options(metric)
    if any(chosen.get(option) != value for option, value in wanted.items()):
        raise MetricError(f'{name}: expected only with input="scores"', option=name)
    options["weight_field"] = "weights"
    return options, {**(_columns_of(fields) or {}), "weights": weights}


def _columns_of(fields: Any) -> Any:
    """Returns further columns by name: a mapping, or those of a data frame."""
    if fields is None or isinstance(fields, Mapping) or not hasattr(fields, "columns"):
        return fields
    return {str(name): fields[name] for name in getattr(fields, "column_names", fields.columns)}


def _scored_as_given(metric: str, defaults: Mapping[str, Any] | None, given: dict[str, Any]) -> Result:
    """Returns ``score`` for the arguments of a metric's function, without those that equal its defaults."""
    known = defaults or {}
    chosen = {name: value for name, value in given.items() if value is not known.get(name, REQUIRED)}
    return score(metric, **chosen)


_P = ParamSpec("_P")


def _with_short_way(metric: str) -> Callable[[Callable[_P, Result]], Callable[_P, Result]]:
    """Returns a decorator that gives the function of a metric a fast path for calls with a few texts and nothing else.

    The result has the scores, and computes the rest on request.
    """

    def decorated(function: Callable[_P, Result]) -> Callable[_P, Result]:
        scorer: Any = None
        score_texts: Any = None
        whole: Any = function

        @wraps(function)
        def call(*given: Any, predictions: Any = REQUIRED, references: Any = REQUIRED, **options: Any) -> Result:
            nonlocal scorer, score_texts
            if not options and not given:
                if score_texts is None:
                    scorer = _plain_scorer(metric)
                    score_texts = scorer.score_texts
                found = score_texts(predictions, references)
                if found is not None:
                    result = Result()
                    result._scores, result._texts = found
                    result._scorer = scorer
                    return result
            sides = {"predictions": predictions, "references": references}
            named = {name: value for name, value in sides.items() if value is not REQUIRED}
            return cast(Result, whole(*given, **named, **options))

        return cast("Callable[_P, Result]", call)

    return decorated


def score_files(
    metric: str, references: Any = None, predictions: Any = None, *, more_references: Any = None, **options: Any
) -> Result:
    """Scores files, as the program ``metric score`` reads them.

    Args:
        metric: The name of the metric.
        references: The references: a path, a pattern, or a list of paths.
        predictions: The predictions in the same forms; ``None`` if the file of the references has both sides. A metric such
            as ``pass-at-k`` has only these.
        more_references: A file with a further reference of each record, or a list of such files, for metrics that compare
            with several references.
        options: The options of the metric and of reading: ``missing``, ``extra``, ``id_field`` and so on.

    Raises:
        FileNotFoundError: There is no such file.
        MetricError: An option or a record is invalid. The message names the file and the line.
    """
    metric = metric_name(metric)
    options, settings = _parted(options, _SETTINGS | _FILE_SETTINGS)
    scorer = _native.Scorer(metric, options, settings | _further(more_references))
    return _warned(result_of(_scored_files(scorer, references, predictions, settings)))


def merge(states: Iterable[bytes | Metric]) -> Metric:
    """Returns a metric with the data of several metrics or written states, in any order.

    Raises:
        MetricError: There are no states, or they are of different metrics or options.
    """
    written = [state.to_bytes() if isinstance(state, Metric) else bytes(state) for state in states]
    if not written:
        raise MetricError("no states to merge: expected at least one")
    outcome, warnings = _native.merge_bytes([(f"states[{place}]", state) for place, state in enumerate(written)])
    for warning in warnings:
        _warnings.warn(warning, stacklevel=2)
    return _of_outcome(outcome)


def _refuse_set(values: Any, name: str) -> None:
    if isinstance(values, (set, frozenset)):
        raise MetricError(f"{name}: found a set, which has no order: expected a sequence of values, such as a list")


def check(result: Mapping[str, float | None], **limits: float) -> list[str]:
    """Returns the limits that a result violates, in words; an empty list if there are none.

    A limit is the least value of a score that should be high, or the greatest value of one that should be low. An
    undefined score violates any limit.

    >>> import metric_suite
    >>> result = metric_suite.wer(predictions=["the cat"], references=["the cat sat"])
    >>> metric_suite.check(result, wer=0.1)
    ['wer is 0.3333333333333333: expected at most 0.1']
    """
    directions = {}
    for entry in _entries():
        if entry["name"] == getattr(result, "metric", None):
            directions = {score["name"]: score["direction"] for score in entry["scores"]}
    failed = []
    for name, limit in limits.items():
        if name not in result:
            raise MetricError(f"no score {name!r}: expected one of {', '.join(result)}", option=name)
        score, is_lower = result[name], directions.get(name) == "lower"
        bound = "at most" if is_lower else "at least"
        if score is None:
            failed.append(f"{name} is undefined: expected {bound} {limit}")
        elif score > limit if is_lower else score < limit:
            failed.append(f"{name} is {score}: expected {bound} {limit}")
    return failed


def assert_score(result: Mapping[str, float | None], **limits: float) -> None:
    """Fails if a result violates limits, for tests: those of ``check``, with the same messages.

    >>> import metric_suite
    >>> result = metric_suite.wer(predictions=["the cat"], references=["the cat sat"])
    >>> metric_suite.assert_score(result, wer=0.5)
    """
    failed = check(result, **limits)
    if failed:
        raise AssertionError("\n".join(failed))


_LISTED: list[dict[str, Any]] | None = None


def _entries() -> list[dict[str, Any]]:
    global _LISTED
    listed = _LISTED
    if listed is None:
        import json

        listed = _LISTED = json.loads(_native.list_json())["metrics"]
    return listed


def _forget_entries() -> None:
    """Forgets what was read of the list of metrics, which has changed."""
    global _LISTED
    _LISTED = None
    _option_names.cache_clear()
    _scores_options.cache_clear()
    _takes_labels.cache_clear()
    _pictures.cache_clear()
    takes_boxes.cache_clear()
    _plain_scorer.cache_clear()


def _classes() -> dict[str, type[Metric]]:
    from . import _generated

    return _generated.CLASSES
