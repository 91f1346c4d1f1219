"""chrF and chrF++: Popović, *chrF: character n-gram F-score for automatic MT evaluation* (WMT 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._native import chrf_score, chrf_statistics
from .base import Metric, Score

__all__ = ["CHRF", "CHRFScore"]


class CHRFScore(Score):
    """A chrF score.

    Attributes:
        name: ``chrF``, beta, and one ``+`` per order of words: ``chrF2``, ``chrF2++``.
        score: The score, from 0 to 100.
        char_order: The greatest length of n-grams of characters.
        word_order: The greatest length of n-grams of words.
        beta: How many times as important as precision recall is.
    """

    def __init__(self, score: float, char_order: int, word_order: int, beta: float) -> None:
        self.beta = beta
        self.char_order = char_order
        self.word_order = word_order
        super().__init__(f"chrF{beta}" + "+" * word_order, score)


class CHRF(Metric[CHRFScore]):
    """chrF.

    Args:
        char_order: The greatest length of n-grams of characters.
        word_order: The greatest length of n-grams of words; 2 for chrF++.
        beta: How many times as important as precision recall is.
        lowercase: Whether to compare in lowercase.
        whitespace: Whether white space counts as characters.
        eps_smoothing: Whether the score is the mean of F over all orders, also those without n-grams.
        references: Reference sets for all hypotheses that are scored without any.

    >>> metric = CHRF(word_order=2)
    >>> metric.corpus_score(["a cat."], [["a cat."]])
    chrF2++ = 100.00
    """

    #: Default of ``char_order``.
    CHAR_ORDER = 6
    #: Default of ``word_order``.
    WORD_ORDER = 0
    #: Default of ``beta``.
    BETA = 2

    def __init__(
        self,
        char_order: int = CHAR_ORDER,
        word_order: int = WORD_ORDER,
        beta: float = BETA,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        references: Sequence[Sequence[str | None]] | None = None,
    ) -> None:
        super().__init__(references)
        self.beta = beta
        self.char_order = char_order
        self.word_order = word_order
        self.order = char_order + word_order
        self.lowercase = lowercase
        self.whitespace = whitespace
        self.eps_smoothing = eps_smoothing

    def _options(self) -> tuple[int, int, float, bool, bool, bool]:
        return self.char_order, self.word_order, self.beta, self.lowercase, self.whitespace, self.eps_smoothing

    def _compute_score_from_stats(self, stats: Any) -> CHRFScore:
        score = chrf_score(self._options(), [stats[start : start + 3] for start in range(0, len(stats), 3)])
        if score is None and not stats:
            raise ZeroDivisionError("chrF without orders of characters and words")
        if score is None:
            raise ValueError(f"chrF with beta {self.beta} is not a number")
        return CHRFScore(score, self.char_order, self.word_order, self.beta)

    def _count(self, hypotheses: Any, streams: Any, each: bool) -> tuple[list[Any], tuple[int, int] | None]:
        return chrf_statistics(self._options(), hypotheses, streams, each)

    def _signature_keys(self) -> dict[str, tuple[str, Any]]:
        return {
            "case": ("c", "lc" if self.lowercase else "mixed"),
            "eff": ("e", "no" if self.eps_smoothing else "yes"),
            "nc": ("nc", self.char_order),
            "nw": ("nw", self.word_order),
            "space": ("s", "yes" if self.whitespace else "no"),
        }
