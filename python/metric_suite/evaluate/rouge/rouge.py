"""ROUGE of the package rouge-score, as Hugging Face's evaluate computes it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import evaluate

from metric_suite.compat.rouge_score import rouge_scorer
from metric_suite.compat.rouge_score import scoring
from metric_suite.evaluate._texts import features
from metric_suite.evaluate._texts import lists

_DESCRIPTION = "Overlap of summaries with their references: F of n-grams and of longest common subsequences."
_INPUTS = """
Args:
    predictions: Texts. For `rougeLsum` they have one sentence per line.
    references: For each prediction a text or a list of texts.
    rouge_types: The types; by default `rouge1`, `rouge2`, `rougeL` and `rougeLsum`.
    use_aggregator: Whether to return one number per type instead of a list: the mean, or the median of 1000 resampled
        means if the module was loaded with a seed (`evaluate.load(..., seed=42)`).
    use_stemmer: Whether words of more than 3 letters are replaced by their stem.
    tokenizer: What splits a text into tokens.
"""


class Rouge(evaluate.Metric):
    _is_seeded = False

    def __init__(self, *arguments: Any, seed: int | None = None, **options: Any) -> None:
        self._is_seeded = seed is not None
        super().__init__(*arguments, seed=seed, **options)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features()
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        rouge_types: Any = None,
        use_aggregator: bool = True,
        use_stemmer: bool = False,
        tokenizer: Any = None,
    ) -> dict[str, Any]:
        scorer = rouge_scorer.RougeScorer(
            rouge_types or ["rouge1", "rouge2", "rougeL", "rougeLsum"],
            use_stemmer=use_stemmer,
            tokenizer=tokenizer and SimpleNamespace(tokenize=tokenizer),
        )
        scores = scorer.score_all(lists(references), predictions)
        if use_aggregator and self._is_seeded:
            # evaluate seeds NumPy's global generator, from which the aggregator draws.
            aggregator = scoring.BootstrapAggregator()
            for index in range(len(predictions)):
                aggregator.add_scores({name: found[index] for name, found in scores.items()})
            return {name: ends.mid.fmeasure for name, ends in aggregator.aggregate().items()}
        values = {name: [score.fmeasure for score in found] for name, found in scores.items()}
        if not use_aggregator:
            return values
        return {name: math.fsum(found) / len(found) for name, found in values.items()}
