"""Accuracy, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

import metric_suite
from metric_suite.evaluate import _classes

_DESCRIPTION = "Share of predictions that equal their reference."
_INPUTS = """
Args:
    predictions: Labels, one per reference.
    references: Labels.
    normalize: Whether to return the share of correct predictions, not their number.
    sample_weight: A weight per example. Needs scikit-learn.
"""


class Accuracy(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_classes.features(self.config_name),
        )

    def _compute(
        self, predictions: Any, references: Any, normalize: Any = True, sample_weight: Any = None
    ) -> dict[str, Any]:
        if _classes.needs_sklearn(predictions, sample_weight):
            from sklearn.metrics import accuracy_score

            score = accuracy_score(references, predictions, normalize=normalize, sample_weight=sample_weight)
            return {"accuracy": float(score)}
        result = metric_suite.classification(predictions=predictions, references=references, zero_division="0")
        return {"accuracy": result["accuracy"] if normalize else float(result.counts["correct"])}
