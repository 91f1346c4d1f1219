"""Comparisons of systems on the same references."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, _tables
from ._errors import MetricError
from ._metric import (
    REQUIRED,
    _FILE_SETTINGS,
    _SETTINGS,
    _check_box_format,
    _compares,
    _existing,
    _further,
    _parted,
    _refuse_set,
    _scored,
    _with_input,
    _with_weights,
    is_files,
    metric_name,
    refuse_call,
    sides_of,
)
from ._result import result_of


class Comparison(dict[str, Any]):
    """Systems that were scored on the same references, and their differences.

    It is the JSON that the program ``metric compare`` prints, as a dict: ``systems``, ``comparisons``, ``groups``,
    ``warnings`` and so on.

    >>> import metric_suite
    >>> references = ["a b", "c d"] * 20
    >>> systems = {"old": ["a b", "c x"] * 20, "new": references}
    >>> found = metric_suite.compare("wer", references=references, predictions=systems)
    >>> [row["delta"] for row in found["comparisons"] if row["score"] == "wer"]
    [-0.25]
    >>> print(found.to_markdown().splitlines()[0])
    | score | old (baseline) | new | difference | 95% interval of difference | p | better / same / worse |
    """

    def _scores(self) -> dict[tuple[str | None, str | None], dict[str, Mapping[str, Any]]]:
        """The scores by kind of group, group and system; those of all examples come first."""
        found: dict[tuple[str | None, str | None], dict[str, Mapping[str, Any]]]
        found = {(None, None): {system["name"]: system["scores"] for system in self["systems"]}}
        for kind, group, body in self._groups():
            found[kind, group] = {system["name"]: system["scores"] or {} for system in body["systems"]}
        return found

    def _groups(self) -> list[tuple[str, str, Any]]:
        kinds = self.get("groups", {}).items()
        return [(kind, group, body) for kind, groups in kinds for group, body in groups.items()]

    def _as_tables(self) -> list[_tables.Table]:
        """The differences on all examples, then those on the groups of each kind."""
        scores = self._scores()
        tables = [self._table(None, [(None, row, scores[None, None]) for row in self["comparisons"]])]
        for kind, groups in self.get("groups", {}).items():
            rows = [(group, row, scores[kind, group]) for group, body in groups.items() for row in body["comparisons"]]
            tables.append(self._table(kind, rows))
        return tables

    def _table(self, kind: str | None, rows: Sequence[tuple[str | None, Any, Mapping[str, Any]]]) -> _tables.Table:
        pairs = {(row["baseline"], row["system"]) for _, row, _ in rows}
        is_one = len(pairs) == 1
        is_adjusted = any(row["p"] != row["p_holm"] for _, row, _ in rows)
        where = [] if kind is None else [kind]
        if is_one:
            [(baseline, system)] = pairs
            head = [*where, "score", f"{baseline} (baseline)", system]
        else:
            head = [*where, "score", "baseline", "value of baseline", "system", "value"]
        head += ["difference", f"{100 * self['confidence']:g}% interval of difference", "p"]
        head += [*(["p (Holm)"] if is_adjusted else []), "better / same / worse"]
        cells = []
        for group, row, scores in rows:
            values = [_tables.number(scores.get(row[side], {}).get(row["score"])) for side in ("baseline", "system")]
            of_systems = values if is_one else [row["baseline"], values[0], row["system"], values[1]]
            difference = [_tables.number(row["delta"], True), _tables.interval(row["low"], row["high"], True)]
            tests = [_tables.number(row[name]) for name in ("p", "p_holm")[: 1 + is_adjusted]]
            counts = [row[name] for name in ("wins", "ties", "losses")]
            examples = "-" if counts[0] is None else " / ".join(map(str, counts))
            cells.append([*([] if group is None else [group]), row["score"], *of_systems, *difference, *tests, examples])
        return _tables.Table(head, cells)

    def _records(self) -> list[dict[str, Any]]:
        scores, rows = self._scores(), []
        groups = self._groups()
        for kind, group, body in [(None, None, self), *groups]:
            place = {"kind": kind, "group": group} if groups else {}
            for row in body["comparisons"]:
                values = {side: scores[kind, group].get(row[side], {}).get(row["score"]) for side in ("baseline", "system")}
                numbers = {"baseline_value": values["baseline"], "value": values["system"]}
                further = {name: row[name] for name in _COLUMNS}
                names = {name: row[name] for name in ("score", "baseline", "system")}
                rows.append({**place, **names, **numbers, **further})
        return rows

    def to_pandas(self) -> Any:
        """Returns the differences as a ``pandas.DataFrame``, one row per score and pair of systems.

        If there are groups, whose rows follow those of all examples, the columns ``kind`` and ``group`` name them. What is
        undefined is NaN.
        """
        return _tables.pandas_frame(self._records(), _NUMBERS)

    def to_polars(self) -> Any:
        """Returns the differences as a ``polars.DataFrame`` with the columns of ``to_pandas``; what is undefined is null."""
        return _tables.polars_frame(self._records(), _NUMBERS)

    def to_json(self) -> str:
        """Returns the JSON that the program ``metric compare`` prints."""
        return json.dumps(self, separators=(",", ":"), ensure_ascii=False)

    def to_markdown(self) -> str:
        """Returns the differences as Markdown tables."""
        return f"{_tables.markdown(self._as_tables())}\n\n`{self['signature']}`\n"

    def to_latex(self) -> str:
        """Returns the differences as LaTeX tables, which need the package ``booktabs``."""
        return f"{_tables.latex(self._as_tables())}\n% {self['signature']}\n"

    def __str__(self) -> str:
        lines = [_tables.text(self._as_tables()), "", f"{self['examples']} examples, {self['signature']}"]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self["warnings"])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _tables.html(self._as_tables(), self["signature"], self["warnings"])


_COLUMNS = ("delta", "low", "high", "p", "p_holm", "wins", "ties", "losses")
_NUMBERS = ("baseline_value", "value", *_COLUMNS[:5])


def compare(
    metric: str,
    *given: Any,
    predictions: Any = REQUIRED,
    references: Any = None,
    more_references: Any = None,
    ids: Any = None,
    fields: Any = None,
    baseline: str | None = None,
    all_pairs: bool = False,
    permutations: int | None = None,
    **options: Any,
) -> Comparison:
    """Compares systems on the same references, as the program ``metric compare`` does.

    Args:
        metric: The name of the metric.
        predictions: The predictions of each system, in any form that the function of the metric takes, or the path of a
            file: a mapping of names to predictions, a list of predictions, or a data frame with one column per system.
        references: The references, in any form that the function of the metric takes, or the path of a file; a metric
            such as ``pass-at-k`` has none.
        more_references: A file with a further reference of each record, or a list of such files, next to files.
        ids: An id per example, if values are given.
        fields: Further columns by name, such as weights, clusters or slices, if values are given.
        baseline: The system that the others are compared with; by default the first.
        all_pairs: Whether all pairs of systems are compared.
        permutations: The number of random trials of a paired test.
        options: The options of the metric, and ``confidence``, ``resamples``, ``seed``, ``slice_field`` and so on.

    Systems of a list have the names of their files or columns, and are ``system 1``, ``system 2`` and so on otherwise.

    Returns:
        The JSON that the program prints, as a dict that notebooks show as tables.

    Raises:
        MetricError: An option or a value is invalid.

    >>> import metric_suite
    >>> truth = metric_suite.Boxes(image=[1, 2], category=[7, 7], box=[[0, 0, 10, 10]] * 2)
    >>> found = [metric_suite.Boxes(image=[1, 2], category=[7, 7], box=[[0, 0, width, 10]] * 2, score=[0.9] * 2) for width in (6, 10)]
    >>> [row["delta"] for row in metric_suite.compare("voc", references=truth, predictions=found, iou=0.7)["comparisons"]]
    [1.0]
    """
    metric = metric_name(metric)
    named = {"metric": metric, "predictions": predictions, "references": REQUIRED if references is None else references}
    if given or any(named[side] is REQUIRED for side in sides_of(metric)):
        refuse_call("compare", ["metric", *sides_of(metric)], given, [name for name in named if named[name] is not REQUIRED])
    # Each system is scored with the same references, perhaps twice: what is read once becomes a list.
    references, ids = _reread(references), _reread(ids)
    systems = {name: _reread(values) for name, values in _systems(metric, predictions, references).items()}
    options, settings = _parted(options, _SETTINGS | _FILE_SETTINGS)
    first = next(iter(systems.values()), None)
    options, fields = _with_weights(metric, options, fields, first)
    options = _with_input(metric, options, first)
    settings |= _further(more_references)
    _check_box_format(metric, settings)
    chosen = {"baseline": _baseline(baseline, systems), "all_pairs": all_pairs, "permutations": permutations}
    if _compares(metric) and all(map(is_files, (references, *systems.values()))):
        if ids is not None or fields is not None:
            raise MetricError("ids and fields are for values: files have their own")
        pairs = [(name, _existing(values)) for name, values in systems.items()]
        found = _native.compare_files(metric, options, settings | chosen, _existing(references), pairs, True)
    else:
        outcomes = _outcomes(metric, options, settings, systems, references, ids, fields)
        found = _native.compare_states(metric, options, settings | chosen, outcomes)
    return Comparison(json.loads(found))


def _reread(values: Any) -> Any:
    return list(values) if hasattr(values, "__next__") else values


def _outcomes(
    metric: str, options: dict[str, Any], settings: dict[str, Any], systems: Mapping[str, Any], references: Any, ids: Any, fields: Any
) -> list[tuple[str, Any, int | None]]:
    """Scores each system; with ``missing="skip"`` on the examples that all of them have."""

    def scorer_of(**further: Any) -> _native.Scorer:
        return _native.Scorer(metric, options, {**settings, "is_compared": True, **further})

    def scored(scorer: _native.Scorer) -> dict[str, Any]:
        found = {}
        for name, predictions in systems.items():
            try:
                found[name] = _scored(scorer, predictions, references, ids, fields, settings, settings.get("box_format"))
            except MetricError as error:
                raise _of_system(error, name) from None
        return found

    outcomes = scored(scorer_of())
    if settings.get("missing") == "skip":
        paired = scorer_of(paired_with=list(outcomes.values()))
        # If all systems lack the same, each of them has left it out by itself.
        if paired.leaves_out:
            missing = {name: result_of(outcome).missing for name, outcome in outcomes.items()}
            return [(name, outcome, missing[name]) for name, outcome in scored(paired).items()]
    return [(name, outcome, None) for name, outcome in outcomes.items()]


def _of_system(error: MetricError, name: str) -> MetricError:
    """Returns an error that says whose predictions it is about."""
    if error.option is not None or error.problem.startswith(("references", "ids", "fields")):
        return error
    side = f"predictions[{name!r}]"
    whole, _, rest = error.problem.partition("predictions")
    problem = f"{side}{rest}" if rest and not whole else f"{side}: {error.problem}"
    return MetricError(problem, index=error.index, id=error.id, side=error.side, field=error.field)


def _systems(metric: str, predictions: Any, references: Any) -> dict[str, Any]:
    """Returns the predictions of each system by its name."""
    _refuse_set(predictions, "predictions")
    if isinstance(predictions, Mapping):
        named = {str(name): values for name, values in predictions.items()}
        if len(named) < len(predictions):
            raise MetricError("predictions: two systems have the same name as a text", side="prediction")
        return named
    if hasattr(predictions, "columns") and hasattr(predictions, "__getitem__"):
        columns = getattr(predictions, "column_names", predictions.columns)
        return {str(name): predictions[name] for name in columns}
    if isinstance(predictions, (list, tuple)) and all(_is_system(metric, values, references) for values in predictions):
        return dict(zip(_names(predictions), predictions))
    found = "one string" if isinstance(predictions, str) else type(predictions).__name__
    if isinstance(predictions, (list, tuple)) and predictions:
        found = f"a {found} of {type(predictions[0]).__name__}"
    expected = "expected a mapping of the name of each system to its predictions, or a list with the predictions of each"
    raise MetricError(f"predictions: found {found}: {expected}", side="prediction")


def _is_system(metric: str, values: Any, references: Any) -> bool:
    """Whether a value is the predictions of a system, and not a prediction."""
    if isinstance(values, (str, os.PathLike)):
        return is_files(references) or not _compares(metric)
    if isinstance(values, Mapping):
        # One dict of a list is an image or a box. Records by id have any keys.
        return _native.reads(metric) != "documents" and _compares(metric) and not values.keys() & _KEYS
    return hasattr(values, "__len__") or hasattr(values, "__next__") or hasattr(values, "image")


# Keys of rows and images.
_KEYS = {"id", "question_id", "image_id", "boxes", "masks", "box"}


def _names(systems: Sequence[Any]) -> list[str]:
    """Returns the names of systems: those of their files or columns if they differ, and numbers otherwise."""
    named = [str(getattr(values, "name", None) or "") for values in systems]
    if all(isinstance(values, (str, os.PathLike)) for values in systems):
        paths = [os.fspath(values) for values in systems]
        named = [os.path.splitext(os.path.basename(path))[0] for path in paths]
        named = named if len(set(named)) == len(named) else paths
    is_named = all(named) and len(set(named)) == len(named)
    return named if is_named else [f"system {place}" for place in range(1, len(systems) + 1)]


def _baseline(name: str | None, systems: Mapping[str, Any]) -> str | None:
    """Returns the name of the baseline, in which hyphens and underscores are the same unless two names differ by them."""
    if name is None or name in systems:
        return name
    alike = [known for known in systems if known.replace("_", "-") == str(name).replace("_", "-")]
    return alike[0] if len(alike) == 1 else name
