"""The list of metrics."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._metric import _entries


class MetricInfo(NamedTuple):
    """A metric that the package has."""

    name: str
    #: A description of what it measures.
    help: str
    #: The form of a reference.
    reference: str
    #: The form of a prediction.
    prediction: str
    #: The options, with ``name``, ``kind``, ``default``, ``choices``, ``help``. Names have hyphens, which are
    #: underscores in Python.
    options: list[dict[str, Any]]
    #: The scores, with ``name``, ``direction`` and whether each is a ``proportion``.
    scores: list[dict[str, Any]]
    #: The kinds of groups that it can report.
    groups: list[str]
    #: Whether it has details under at least some options.
    details: bool
    #: The shapes of its values, with ``name`` and the ``options`` that each needs.
    shapes: list[dict[str, Any]]
    #: The question that its scores answer.
    question: str
    #: The programs whose numbers it has.
    programs: str
    #: The files of ``metric demo``, with ``name``, ``references``, ``predictions`` and ``options``.
    demos: list[dict[str, Any]]
    #: Whether it compares predictions with references.
    compares: bool
    #: The name of its class.
    class_name: str
    #: Whether its result has arrays of precision, recall and scores.
    arrays: bool


def metrics() -> list[MetricInfo]:
    """Returns all metrics.

    >>> import metric_suite
    >>> [metric.name for metric in metric_suite.metrics() if metric.name in ("wer", "cer")]
    ['wer', 'cer']
    >>> [metric.name for metric in metric_suite.metrics() if metric.name.endswith("cer")]
    ['cer']
    """
    return [MetricInfo(**entry) for entry in _entries()]
