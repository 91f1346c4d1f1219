"""The Brier score, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate
import numpy

import metric_suite

_DESCRIPTION = "Mean squared difference of probabilities and outcomes."
_INPUTS = """
Args:
    references: Labels of two classes.
    predictions: The probability of the positive class, one per reference.
    sample_weight: A weight per example.
    pos_label: The positive class; by default the greater label, or 1 if there is only one.
"""


class BrierScore(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        features = {"references": datasets.Value("float"), "predictions": datasets.Value("float")}
        if self.config_name == "multilabel":
            features = {name: datasets.Sequence(value) for name, value in features.items()}
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=datasets.Features(features)
        )

    def _compute(
        self, references: Any, predictions: Any, sample_weight: Any = None, pos_label: Any = 1
    ) -> dict[str, Any]:
        outcomes = (numpy.asarray(references) == pos_label).astype("int64")
        weights = {} if sample_weight is None else {"weights": sample_weight}
        result = metric_suite.classification_scores(predictions=numpy.asarray(predictions), references=outcomes, **weights)
        return {"brier_score": result["brier"]}
