"""BLEU of Google's NMT tutorial, as Hugging Face's evaluate computes it."""

from __future__ import annotations

import itertools
from typing import Any

import evaluate

from metric_suite._native import bleu_score
from metric_suite._native import bleu_statistics
from metric_suite.evaluate._texts import features
from metric_suite.evaluate._texts import lists

_DESCRIPTION = "BLEU of translations, as a fraction."
_INPUTS = """
Args:
    predictions: Texts.
    references: For each prediction a text or a list of texts.
    tokenizer: What splits a text into tokens; by default the rules of `mteval-v13a`.
    max_order: The greatest length of n-grams.
    smooth: Whether 1 is added to the counts of each order.
"""


class Bleu(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features()
        )

    def _compute(
        self, predictions: Any, references: Any, tokenizer: Any = None, max_order: int = 4, smooth: bool = False
    ) -> dict[str, Any]:
        references = lists(references)
        profile = "evaluate"
        if tokenizer is not None:
            # The engine gets a number for each token, and splits at white space.
            profile = "codexglue-generation"
            numbers: dict[Any, str] = {}

            def spelled(text: str) -> str:
                return " ".join(numbers.setdefault(token, str(len(numbers))) for token in tokenizer(text))

            predictions = [spelled(text) for text in predictions]
            references = [[spelled(text) for text in texts] for texts in references]
        # Predictions can have different numbers of references.
        sets = list(itertools.zip_longest(*references))
        rows, _ = bleu_statistics((profile, "13a", False, max_order), predictions, sets, False)
        length, reference_length, *counts = rows[0] if rows else (0, 0)
        ngrams = [list(pair) for pair in zip(counts[:max_order], counts[max_order:])]
        lengths = [length, reference_length]
        smoothing = "add-one" if smooth else "none"
        score, penalty, precisions, _ = bleu_score(profile, smoothing, None, False, lengths, ngrams)
        if not length or not reference_length:
            raise ZeroDivisionError("the predictions or the references have no tokens")
        return {
            "bleu": score,
            "precisions": precisions,
            "brevity_penalty": penalty,
            "length_ratio": length / reference_length,
            "translation_length": length,
            "reference_length": reference_length,
        }
