"""Pearson's correlation, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

import metric_suite
from metric_suite.evaluate import _numbers

_DESCRIPTION = "Pearson's correlation of predictions and references."
_INPUTS = """
Args:
    predictions: Numbers, one per reference.
    references: Numbers.
    return_pvalue: Whether to return the p-value as well. Needs SciPy.
"""


class Pearsonr(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_numbers.features(),
        )

    def _compute(self, predictions: Any, references: Any, return_pvalue: bool = False) -> dict[str, Any]:
        found = {"pearsonr": _numbers.correlation(metric_suite.regression, "pearson", predictions, references)}
        if return_pvalue:
            found["p-value"] = _numbers.pvalue("pearsonr", predictions, references)
        return found
