"""TER of sacreBLEU, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

from metric_suite.compat.sacrebleu import TER
from metric_suite.evaluate._texts import features
from metric_suite.evaluate._texts import reference_sets

_DESCRIPTION = "Edits and shifts per 100 words of the references (translation edit rate)."
_INPUTS = """
Args:
    predictions: Texts.
    references: For each prediction a text, or a list with the same number of texts for all predictions.
    normalized: Whether to separate punctuation.
    ignore_punct: Whether to remove punctuation.
    support_zh_ja_chars: Whether the two options above know Chinese and Japanese characters.
    case_sensitive: Whether upper and lower case differ.
"""


class Ter(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features()
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> dict[str, Any]:
        metric = TER(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        score = metric.corpus_score(predictions, reference_sets(references))
        return {"score": score.score, "num_edits": score.num_edits, "ref_length": score.ref_length}
