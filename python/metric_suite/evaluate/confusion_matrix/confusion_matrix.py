"""Confusion matrix, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate
import numpy

from metric_suite.evaluate import _classes

_DESCRIPTION = "Number of examples of each class (row) that are predicted as each class (column)."
_INPUTS = """
Args:
    predictions: Labels, one per reference.
    references: Labels.
    labels: The classes of rows and columns; by default all, in order.
    sample_weight: A weight per example. Needs scikit-learn.
    normalize: "true" for shares of rows, "pred" of columns, "all" of all examples.
"""


class ConfusionMatrix(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_classes.features(self.config_name),
        )

    def _compute(
        self, predictions: Any, references: Any, labels: Any = None, sample_weight: Any = None, normalize: Any = None
    ) -> dict[str, Any]:
        if _classes.needs_sklearn(predictions, sample_weight) or labels is not None:
            from sklearn.metrics import confusion_matrix

            options = {"labels": labels, "sample_weight": sample_weight, "normalize": normalize}
            return {"confusion_matrix": confusion_matrix(references, predictions, **options)}
        _, counts = _classes.table(predictions, references)
        sums = {
            "true": counts.sum(axis=1, keepdims=True),
            "pred": counts.sum(axis=0, keepdims=True),
            "all": counts.sum(),
        }
        if normalize is None:
            return {"confusion_matrix": counts}
        if normalize not in sums:
            raise ValueError(f"invalid value {normalize!r} for normalize: expected 'true', 'pred', 'all' or None")
        with numpy.errstate(all="ignore"):
            return {"confusion_matrix": numpy.nan_to_num(counts / sums[normalize])}
