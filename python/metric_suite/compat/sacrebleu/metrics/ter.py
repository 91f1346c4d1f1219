"""TER: Snover et al., *A study of translation edit rate with targeted human annotation* (AMTA 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._native import ter_statistics
from ..tokenizers.tokenizer_ter import TercomTokenizer
from .base import Metric, Score

__all__ = ["TER", "TERScore"]


class TERScore(Score):
    """A translation edit rate.

    Attributes:
        name: ``TER``.
        score: Edits per 100 words of the references, which can be more than 100.
        num_edits: The number of edits and shifts.
        ref_length: The number of words of the references: the mean of each segment, added up.
    """

    def __init__(self, score: float, num_edits: float, ref_length: float) -> None:
        super().__init__("TER", score)
        self.num_edits = num_edits
        self.ref_length = ref_length


class TER(Metric[TERScore]):
    """Translation edit rate.

    References are prepared twice, as in sacreBLEU, so that with ``normalized`` a text can have edits against itself.

    Args:
        normalized: Whether to separate punctuation.
        no_punct: Whether to remove punctuation.
        asian_support: Whether the two options above know Chinese and Japanese characters.
        case_sensitive: Whether upper and lower case differ.
        references: Reference sets for all hypotheses that are scored without any.
    """

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Sequence[Sequence[str | None]] | None = None,
    ) -> None:
        super().__init__(references)
        self.no_punct = no_punct
        self.normalized = normalized
        self.asian_support = asian_support
        self.case_sensitive = case_sensitive

    @property
    def tokenizer(self) -> TercomTokenizer:
        """The tokenizer with the options of this metric. It cannot be replaced."""
        return TercomTokenizer(*self._options())

    @property
    def tokenizer_signature(self) -> str:
        """The name of the tokenizer."""
        return self.tokenizer.signature()

    def _options(self) -> tuple[bool, bool, bool, bool]:
        return self.normalized, self.no_punct, self.asian_support, self.case_sensitive

    def _compute_score_from_stats(self, stats: Any) -> TERScore:
        edits, length = stats[0], stats[1]
        score = 100 * edits / length if length > 0 else 100.0 if edits else 0.0
        return TERScore(score, edits, length)

    def _count(self, hypotheses: Any, streams: Any, each: bool) -> tuple[list[Any], tuple[int, int] | None]:
        return ter_statistics(self._options(), hypotheses, streams, each)

    def _signature_keys(self) -> dict[str, tuple[str, Any]]:
        return {
            "case": ("c", "mixed" if self.case_sensitive else "lc"),
            "tok": ("t", self.tokenizer_signature),
            "norm": ("nr", "yes" if self.normalized else "no"),
            "punct": ("pn", "no" if self.no_punct else "yes"),
            "asian": ("as", "yes" if self.asian_support else "no"),
        }
