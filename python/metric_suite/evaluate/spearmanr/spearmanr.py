"""Spearman's rank correlation, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

import metric_suite
from metric_suite.evaluate import _numbers

_DESCRIPTION = "Spearman's rank correlation of predictions and references."
_INPUTS = """
Args:
    predictions: Numbers, one per reference.
    references: Numbers.
    return_pvalue: Whether to return the p-value as well. Needs SciPy.
"""


class Spearmanr(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=_numbers.features(),
        )

    def _compute(self, predictions: Any, references: Any, return_pvalue: bool = False) -> dict[str, Any]:
        found = {"spearmanr": _numbers.correlation(metric_suite.rank_correlation, "spearman", predictions, references)}
        if return_pvalue:
            found["spearmanr_pvalue"] = _numbers.pvalue("spearmanr", predictions, references)
        return found
