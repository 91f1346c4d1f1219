"""Scores, and intervals of their means from resampling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Score", "AggregateScore", "BaseScorer", "BootstrapAggregator", "fmeasure"]


class Score(NamedTuple):
    """Precision, recall and their harmonic mean, from 0 to 1."""

    precision: float
    recall: float
    fmeasure: float


class AggregateScore(NamedTuple):
    """The lower end, the median and the upper end of the means of resampled scores."""

    low: Any
    mid: Any
    high: Any


class BaseScorer:
    """What scores a prediction against a target."""

    def score(self, target: str, prediction: str) -> Any:
        """Returns scores by type."""
        raise NotImplementedError


class BootstrapAggregator:
    """Computes intervals of mean scores. Needs NumPy, whose global generator it draws from: ``numpy.random.seed`` makes
    the result repeatable.

    Args:
        confidence_interval: The share of resampled means within an interval.
        n_samples: The number of resampled means.

    Raises:
        ValueError: If the share is not from 0 to 1, or there are no samples.
    """

    def __init__(self, confidence_interval: float = 0.95, n_samples: int = 1000) -> None:
        if not 0 <= confidence_interval <= 1:
            raise ValueError(f"invalid confidence_interval {confidence_interval}: expected a number from 0 to 1")
        if n_samples <= 0:
            raise ValueError(f"invalid n_samples {n_samples}: expected a positive integer")
        self._n_samples = n_samples
        self._confidence_interval = confidence_interval
        self._scores: dict[str, list[Any]] = defaultdict(list)

    def add_scores(self, scores: Mapping[str, Any]) -> None:
        """Adds the scores of one example, which are named tuples by type."""
        for name, score in scores.items():
            self._scores[name].append(score)

    def aggregate(self) -> dict[str, AggregateScore]:
        """Returns the aggregated scores by type.

        >>> aggregator = BootstrapAggregator(n_samples=10)
        >>> aggregator.add_scores({"rouge1": Score(0.5, 0.25, 1 / 3)})
        >>> float(aggregator.aggregate()["rouge1"].mid.recall)
        0.25
        """
        return {name: self._aggregate(scores) for name, scores in self._scores.items()}

    def _aggregate(self, scores: list[Any]) -> AggregateScore:
        import numpy

        values = numpy.array(scores)
        means = numpy.empty((self._n_samples, *values.shape[1:]))
        for index in range(self._n_samples):
            means[index] = values[numpy.random.choice(len(values), size=len(values))].mean(axis=0)
        outside = (1 - self._confidence_interval) / 2
        ends = numpy.percentile(means, [100 * outside, 50, 100 * (1 - outside)], axis=0)
        if not isinstance(scores[0], tuple):
            return AggregateScore(*ends)
        kind: Any = type(scores[0])
        return AggregateScore(*(kind(*end) for end in ends))


def fmeasure(precision: float, recall: float) -> float:
    """Returns the harmonic mean of precision and recall; 0 if both are 0.

    >>> fmeasure(0.5, 0.25)
    0.3333333333333333
    """
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0
