"""Matthews correlation coefficient, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate
import numpy

from metric_suite.evaluate import _classes

_DESCRIPTION = "Correlation of predicted and true classes, from -1 to 1."
_INPUTS = """
Args:
    predictions: Labels, one per reference.
    references: Labels.
    sample_weight: A weight per example. Needs scikit-learn.
"""


class MatthewsCorrelation(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("int32"),
                    "references": datasets.Value("int32"),
                }
            ),
        )

    def _compute(self, predictions: Any, references: Any, sample_weight: Any = None) -> dict[str, Any]:
        if _classes.needs_sklearn(predictions, sample_weight):
            from sklearn.metrics import matthews_corrcoef

            score = matthews_corrcoef(references, predictions, sample_weight=sample_weight)
            return {"matthews_correlation": float(score)}
        _, counts = _classes.table(predictions, references)
        counts = counts.astype("float64")
        true, predicted = counts.sum(axis=1), counts.sum(axis=0)
        examples = counts.sum()
        # As scikit-learn rounds it, and 0 where all labels are one.
        product = (examples**2 - true @ true) * (examples**2 - predicted @ predicted)
        if product == 0:
            return {"matthews_correlation": 0.0}
        covariance = numpy.trace(counts) * examples - true @ predicted
        return {"matthews_correlation": float(covariance / numpy.sqrt(product))}
