"""chrF of sacreBLEU, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

from metric_suite.compat.sacrebleu import CHRF
from metric_suite.evaluate._texts import features
from metric_suite.evaluate._texts import reference_sets

_DESCRIPTION = "F-score of n-grams of characters (chrF), and of words (chrF++), from 0 to 100."
_INPUTS = """
Args:
    predictions: Texts.
    references: For each prediction a text, or a list with the same number of texts for all predictions.
    char_order: The greatest length of n-grams of characters.
    word_order: The greatest length of n-grams of words; 2 for chrF++.
    beta: How many times as important as precision recall is.
    lowercase: Whether to compare in lowercase.
    whitespace: Whether white space counts as characters.
    eps_smoothing: Whether the score is the mean of F over all orders, also those without n-grams.
"""


class ChrF(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features()
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        char_order: int = CHRF.CHAR_ORDER,
        word_order: int = CHRF.WORD_ORDER,
        beta: float = CHRF.BETA,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> dict[str, Any]:
        metric = CHRF(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
        score = metric.corpus_score(predictions, reference_sets(references))
        return {
            "score": score.score,
            "char_order": score.char_order,
            "word_order": score.word_order,
            "beta": score.beta,
        }
