"""Exact match, as Hugging Face's evaluate computes it."""

from __future__ import annotations

import re
from typing import Any

import datasets
import evaluate
import numpy

import metric_suite

_DESCRIPTION = "Share of predictions that equal their reference."
_INPUTS = """
Args:
    predictions: Texts, one per reference.
    references: Texts.
    regexes_to_ignore: Regular expressions whose matches are deleted first.
    ignore_case: Whether to convert to lower case.
    ignore_punctuation: Whether to delete ASCII punctuation.
    ignore_numbers: Whether to delete digits.
"""


class ExactMatch(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": datasets.Value("string"),
                }
            ),
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        regexes_to_ignore: Any = None,
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
    ) -> dict[str, Any]:
        # Python's own regular expressions, which have more than the engine's.
        for pattern in regexes_to_ignore or ():
            predictions = [re.sub(pattern, "", text) for text in predictions]
            references = [re.sub(pattern, "", text) for text in references]
        result = metric_suite.exact_match(
            predictions=predictions,
            references=references,
            ignore_case=ignore_case,
            ignore_punctuation=ignore_punctuation,
            ignore_numbers=ignore_numbers,
        )
        return {"exact_match": numpy.float64(result["exact_match"])}
