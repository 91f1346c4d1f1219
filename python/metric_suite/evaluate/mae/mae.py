"""Mean absolute error, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

from metric_suite.evaluate import _numbers

_DESCRIPTION = "Mean of the absolute differences between predictions and references."
_INPUTS = """
Args:
    predictions: Numbers, one per reference.
    references: Numbers.
    sample_weight: A weight per example.
    multioutput: How to average several numbers per example. These need scikit-learn.
"""


class Mae(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_numbers.features(self.config_name),
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        sample_weight: Any = None,
        multioutput: Any = "uniform_average",
    ) -> dict[str, Any]:
        score = _numbers.error("mae", "mean_absolute_error", predictions, references, sample_weight, multioutput)
        return {"mae": score}
