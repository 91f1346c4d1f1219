"""BLEU of sacreBLEU, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import evaluate

from metric_suite.compat import sacrebleu
from metric_suite.evaluate._texts import features
from metric_suite.evaluate._texts import reference_sets

_DESCRIPTION = "BLEU of translations, from 0 to 100."
_INPUTS = """
Args:
    predictions: Texts.
    references: For each prediction a text, or a list with the same number of texts for all predictions.
    smooth_method: `exp`, `floor`, `add-k` or `none`.
    smooth_value: The value of `floor` (0.1 by default) or `add-k` (1 by default).
    force: Whether not to warn about predictions that look tokenized.
    lowercase: Whether to compare in lowercase.
    tokenize: `13a` (the default), `intl`, `zh`, `char` or `none`.
    use_effective_order: Whether orders without n-grams are left out.
"""


class Sacrebleu(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features()
        )

    def _compute(
        self,
        predictions: Any,
        references: Any,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        force: bool = False,
        lowercase: bool = False,
        tokenize: str | None = None,
        use_effective_order: bool = False,
    ) -> dict[str, Any]:
        score = sacrebleu.corpus_bleu(
            predictions,
            reference_sets(references),
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            force=force,
            lowercase=lowercase,
            tokenize=tokenize,
            use_effective_order=use_effective_order,
        )
        return {
            "score": score.score,
            "counts": score.counts,
            "totals": score.totals,
            "precisions": score.precisions,
            "bp": score.bp,
            "sys_len": score.sys_len,
            "ref_len": score.ref_len,
        }
