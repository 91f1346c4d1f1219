"""Scorers for scikit-learn.

>>> from metric_suite.sklearn import make_scorer
>>> scorer = make_scorer("classification", score="f1", average="macro")
"""

from __future__ import annotations

import math
from typing import Any

from ._listed import MetricInfo, metrics
from ._metric import score as _score

__all__ = ["make_scorer"]


def make_scorer(metric: str, *, score: str | None = None, response_method: str = "predict", **options: Any) -> Any:
    """Returns a scorer for ``cross_val_score``, ``GridSearchCV`` and so on.

    Args:
        metric: The name of a metric, such as ``"classification"``.
        score: The score to optimize; by default the first score of the metric. A score whose lower values are better
            is negated, as in scikit-learn.
        response_method: The method of the estimator: ``"predict"``, or ``"predict_proba"`` or
            ``"decision_function"`` for metrics that take a score per class. Decision values are not probabilities:
            ``classification-scores`` then has ``roc_auc`` and ``average_precision`` only.
        options: The options of the metric. Of two classes, scikit-learn gives the number of the greater label: it is
            ``positive`` of ``classification-scores``, unless you name another one.

    Raises:
        ValueError: If there is no such metric or score.
    """
    from sklearn.metrics import make_scorer as make

    found = {entry.name: entry for entry in metrics()}
    entry = found.get(metric.replace("_", "-"))
    if entry is None:
        raise ValueError(f"no metric {metric!r}: expected one of {', '.join(found)}")
    name, direction = _chosen(entry, score)
    if entry.name == "classification-scores" and response_method == "decision_function":
        options.setdefault("allow_decision_values", True)
    return make(
        _scored,
        response_method=response_method,
        greater_is_better=direction != "lower",
        metric=entry.name,
        score=name,
        options=options,
    )


def _scored(y_true: Any, y_pred: Any, *, metric: str, score: str | None, options: dict[str, Any]) -> float:
    """Returns a score of predictions; NaN if it is undefined."""
    if metric == "classification-scores" and getattr(y_pred, "ndim", 1) == 1 and "positive" not in options:
        labels = set(y_true)
        if len(labels) == 2 and not any(labels <= pair for pair in ({0, 1}, {-1, 1})):
            options = {**options, "positive": str(max(labels))}
    result = _score(metric, predictions=y_pred, references=y_true, **options)
    value = next(iter(result.values())) if score is None else result[score]
    return math.nan if value is None else value


def _chosen(entry: MetricInfo, score: str | None) -> tuple[str | None, str | None]:
    """Returns the name of a score, None for the first one, and its direction. In listed names, capitals at the end stand for a number."""
    if score is None:
        return None, entry.scores[0]["direction"]
    for listed in entry.scores:
        stem = listed["name"].rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        if score == listed["name"] or (stem != listed["name"] and stem and score.startswith(stem)):
            return score, listed["direction"]
    names = ", ".join(listed["name"] for listed in entry.scores)
    raise ValueError(f"{entry.name} has no score {score!r}: expected one of {names}")
