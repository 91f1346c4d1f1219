"""BLEU: Papineni et al., *BLEU: a method for automatic evaluation of machine translation* (ACL 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._native import bleu_score, bleu_statistics
from ..tokenizers import TOKENIZERS, BaseTokenizer
from .base import Metric, Score, logger

__all__ = ["BLEU", "BLEUScore", "MAX_NGRAM_ORDER"]

#: The greatest length of n-grams, by default.
MAX_NGRAM_ORDER = 4

# So many hypotheses with a separated point at their end are a sign of tokenized text.
_TOKENIZED_LINES = 100


class BLEUScore(Score):
    """A BLEU score.

    Attributes:
        name: ``BLEU``.
        score: The score, from 0 to 100. Rounding can make it 100.00000000000004.
        counts: The correct n-grams of each order.
        totals: The n-grams of each order.
        precisions: The precision of each order after smoothing, in percent.
        bp: The brevity penalty.
        sys_len: The number of tokens of the hypotheses.
        ref_len: The number of tokens of the references that are nearest in length.
        ratio: ``sys_len / ref_len``; 0 if ``ref_len`` is 0.
        prec_str: The precisions as text.
    """

    def __init__(
        self,
        score: float,
        counts: list[float],
        totals: list[float],
        precisions: list[float],
        bp: float,
        sys_len: int,
        ref_len: int,
    ) -> None:
        super().__init__("BLEU", score)
        self.bp = bp
        self.counts = counts
        self.totals = totals
        self.sys_len = sys_len
        self.ref_len = ref_len
        self.precisions = precisions
        self.prec_str = "/".join(f"{precision:.1f}" for precision in precisions)
        self.ratio = sys_len / ref_len if ref_len else 0
        self._verbose = (
            f"{self.prec_str} (BP = {bp:.3f} ratio = {self.ratio:.3f} hyp_len = {sys_len:d} ref_len = {ref_len:d})"
        )


class BLEU(Metric[BLEUScore]):
    """BLEU.

    Args:
        lowercase: Whether to compare in lowercase.
        force: Whether not to warn about hypotheses that look tokenized.
        tokenize: One of ``TOKENIZERS``; by default ``13a``, or the tokenizer of ``trg_lang``.
        smooth_method: One of ``SMOOTH_DEFAULTS``.
        smooth_value: The value of ``floor`` or ``add-k``.
        max_ngram_order: The greatest length of n-grams.
        effective_order: Whether orders without n-grams are left out, as is recommended for single sentences.
        trg_lang: The language of the hypotheses, such as ``zh``.
        references: Reference sets for all hypotheses that are scored without any.

    Raises:
        ValueError: If the tokenizer is unknown.
        RuntimeError: If the tokenizer needs a model or a dictionary.
        AssertionError: If the smoothing method is unknown.
    """

    #: The smoothing methods, with the default of ``smooth_value``.
    SMOOTH_DEFAULTS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}
    #: The names of the tokenizers.
    TOKENIZERS = TOKENIZERS.keys()
    #: The tokenizer of languages that have none of their own.
    TOKENIZER_DEFAULT = "13a"

    #: Tokenizers of sacreBLEU that need a dictionary or a model.
    NOT_OFFERED = ("ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K")

    _TOKENIZER_MAP = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = MAX_NGRAM_ORDER,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Sequence[Sequence[str | None]] | None = None,
    ) -> None:
        super().__init__(references)
        _check_smoothing(smooth_method)
        self._force = force
        self.trg_lang = trg_lang
        self.lowercase = lowercase
        self.smooth_value = smooth_value
        self.smooth_method = smooth_method
        self.max_ngram_order = max_ngram_order
        self.effective_order = effective_order
        best = self._TOKENIZER_MAP.get(trg_lang, self.TOKENIZER_DEFAULT)
        self._tokenizer = _tokenizer(tokenize or best)
        if tokenize not in (None, best) and trg_lang in self._TOKENIZER_MAP:
            logger.warning(f"the tokenizer for the language {trg_lang!r} is {best!r}, not {tokenize!r}")

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer. It cannot be replaced: text that another program has tokenized is scored with ``none``."""
        return self._tokenizer

    @property
    def tokenizer_signature(self) -> str:
        """The name of the tokenizer."""
        return self._tokenizer.signature()

    @staticmethod
    def compute_bleu(
        correct: Sequence[int],
        total: Sequence[int],
        sys_len: int,
        ref_len: int,
        smooth_method: str = "none",
        smooth_value: float | None = None,
        effective_order: bool = False,
        max_ngram_order: int = MAX_NGRAM_ORDER,
    ) -> BLEUScore:
        """Computes BLEU from counts.

        Args:
            correct: The correct n-grams of each order.
            total: The n-grams of each order.
            sys_len: The number of tokens of the hypotheses.
            ref_len: The number of tokens of the references.
            smooth_method: One of ``SMOOTH_DEFAULTS``.
            smooth_value: The value of ``floor`` or ``add-k``.
            effective_order: Whether orders without n-grams are left out.
            max_ngram_order: The greatest length of n-grams.

        Raises:
            AssertionError: If the smoothing method is unknown.
            IndexError: If an order has no counts.
            ValueError: If ``smooth_value`` makes the score no number.

        >>> BLEU.compute_bleu([5, 3, 1, 0], [7, 6, 5, 4], 7, 6, smooth_method="exp").score
        30.739407647563215
        """
        _check_smoothing(smooth_method)
        ngrams = [[correct[order], total[order]] for order in range(max_ngram_order)]
        value, penalty, precisions, used = bleu_score(
            "sacrebleu", smooth_method, smooth_value, effective_order, [sys_len, ref_len], ngrams
        )
        if value is None and ngrams:
            raise ValueError(f"BLEU with smooth_value {smooth_value} is not a number: expected a positive value")
        # Under add-k the counts above the first order were increased, by a float or by an integer.
        number = float if smooth_method == "add-k" and isinstance(smooth_value, float) else int
        counts, totals = (
            [number(pair[side]) if order else int(pair[side]) for order, pair in enumerate(used)] for side in (0, 1)
        )
        return BLEUScore(value or 0.0, counts, totals, precisions, penalty or 0.0, sys_len, ref_len)

    def sentence_score(self, hypothesis: str, references: Sequence[str | None]) -> BLEUScore:
        if not self.effective_order:
            logger.warning("without `effective_order`, the BLEU of a sentence is 0 if it has no n-gram of an order")
        return super().sentence_score(hypothesis, references)

    def _compute_score_from_stats(self, stats: Any) -> BLEUScore:
        end = 2 + self.max_ngram_order
        return self.compute_bleu(
            stats[2:end],
            stats[end:],
            stats[0],
            stats[1],
            self.smooth_method,
            self.smooth_value,
            self.effective_order,
            self.max_ngram_order,
        )

    def _count(self, hypotheses: Any, streams: Any, each: bool) -> tuple[list[Any], tuple[int, int] | None]:
        options = ("sacrebleu", self.tokenizer_signature, self.lowercase, self.max_ngram_order)
        found = bleu_statistics(options, hypotheses, streams, each)
        if not self._force and not each:
            tokenized = sum(text.endswith(" .") for text in hypotheses)
            if tokenized >= _TOKENIZED_LINES:
                logger.warning(
                    f"{tokenized} hypotheses end in a point after a space: they look tokenized, which changes the "
                    "score. If they are not, `force` turns this warning off"
                )
        return found

    def _signature_keys(self) -> dict[str, tuple[str, Any]]:
        smooth = self.smooth_method
        default = self.SMOOTH_DEFAULTS[smooth]
        if default is not None:
            smooth += f"[{default if self.smooth_value is None else self.smooth_value:.2f}]"
        return {
            "case": ("c", "lc" if self.lowercase else "mixed"),
            "eff": ("e", "yes" if self.effective_order else "no"),
            "tok": ("tok", self.tokenizer_signature),
            "smooth": ("s", smooth),
        }


def _check_smoothing(method: str) -> None:
    expected = ", ".join(BLEU.SMOOTH_DEFAULTS)
    assert method in BLEU.SMOOTH_DEFAULTS, f"unknown smooth_method {method!r}: expected one of {expected}"


def _tokenizer(name: str) -> BaseTokenizer:
    if name in BLEU.NOT_OFFERED:
        raise RuntimeError(
            f"the tokenizer {name!r} is not offered, because it needs a model or a dictionary: "
            "tokenize with the original program, and score with tokenize='none'"
        )
    if name not in TOKENIZERS:
        raise ValueError(f"unknown tokenizer {name!r}: expected one of {', '.join(TOKENIZERS)}")
    return TOKENIZERS[name]()
