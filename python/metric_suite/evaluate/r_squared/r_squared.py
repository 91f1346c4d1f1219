"""R², as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

import metric_suite
from metric_suite.evaluate import _numbers

_DESCRIPTION = "Share of the variance of the references that the predictions explain."
_INPUTS = """
Args:
    predictions: Numbers, one per reference.
    references: Numbers.
"""


class R2(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_numbers.features(),
        )

    def _compute(self, predictions: Any, references: Any) -> float:
        return _numbers.correlation(metric_suite.regression, "r2", predictions, references)
