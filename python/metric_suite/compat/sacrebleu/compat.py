"""One function per score. The classes of ``metrics`` also have signatures."""

from __future__ import annotations

from collections.abc import Sequence

from .metrics import BLEU, CHRF, TER, BLEUScore, CHRFScore, TERScore

__all__ = [
    "corpus_bleu",
    "raw_corpus_bleu",
    "sentence_bleu",
    "corpus_chrf",
    "sentence_chrf",
    "corpus_ter",
    "sentence_ter",
]


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = False,
) -> BLEUScore:
    """Returns the BLEU of a corpus, from 0 to 100.

    Args:
        hypotheses: Texts.
        references: Reference sets, each with one text per hypothesis. ``None`` in a set is not a reference.
        smooth_method: ``exp``, ``floor``, ``add-k`` or ``none``.
        smooth_value: The value of ``floor`` (0.1 by default) or ``add-k`` (1 by default).
        force: Whether not to warn about hypotheses that look tokenized.
        lowercase: Whether to compare in lowercase.
        tokenize: ``13a``, ``intl``, ``zh``, ``char`` or ``none``.
        use_effective_order: Whether orders without n-grams are left out.
    """
    metric = BLEU(
        lowercase=lowercase,
        force=force,
        tokenize=tokenize,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=use_effective_order,
    )
    return metric.corpus_score(hypotheses, references)


def raw_corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], smooth_value: float | None = 0.1
) -> BLEUScore:
    """Returns the BLEU of tokenized text: tokens are separated by white space, ``smooth_method`` is ``floor``, and
    orders without n-grams are left out. Arguments as in ``corpus_bleu``.

    >>> raw_corpus_bleu(["this is a fest"], [["this is a test"]], 0.01)
    BLEU = 22.36 75.0/66.7/50.0/1.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)
    """
    return corpus_bleu(
        hypotheses,
        references,
        smooth_method="floor",
        smooth_value=smooth_value,
        force=True,
        tokenize="none",
        use_effective_order=True,
    )


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str | None],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = "13a",
    use_effective_order: bool = True,
) -> BLEUScore:
    """Returns the BLEU of one sentence and its references. Arguments as in ``corpus_bleu``.

    >>> sentence_bleu("a cat", ["a cat"])
    BLEU = 100.00 100.0/100.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 2 ref_len = 2)
    """
    metric = BLEU(
        lowercase=lowercase,
        tokenize=tokenize,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=use_effective_order,
    )
    return metric.sentence_score(hypothesis, references)


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: float = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """Returns the chrF of a corpus, from 0 to 100.

    Args:
        hypotheses: Texts.
        references: Reference sets, each with one text per hypothesis. ``None`` in a set is not a reference.
        char_order: The greatest length of n-grams of characters.
        word_order: The greatest length of n-grams of words; 2 for chrF++.
        beta: How many times as important as precision recall is.
        remove_whitespace: Whether white space does not count as characters.
        eps_smoothing: Whether the score is the mean of F over all orders, also those without n-grams.
    """
    metric = CHRF(char_order, word_order, beta, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return metric.corpus_score(hypotheses, references)


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str | None],
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: float = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """Returns the chrF of one sentence and its references. Arguments as in ``corpus_chrf``.

    >>> sentence_chrf("abc", ["abd"], eps_smoothing=True).score
    19.444444444444443
    """
    metric = CHRF(char_order, word_order, beta, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return metric.sentence_score(hypothesis, references)


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """Returns the translation edit rate of a corpus: edits per 100 words of the references.

    Args:
        hypotheses: Texts.
        references: Reference sets, each with one text per hypothesis. ``None`` in a set is not a reference.
        normalized: Whether to separate punctuation.
        no_punct: Whether to remove punctuation.
        asian_support: Whether the two options above know Chinese and Japanese characters.
        case_sensitive: Whether upper and lower case differ.

    >>> corpus_ter(["a b c d", "x y"], [["a c b d", "x z w"], ["a b d", "x y z"]])
    TER = 30.77
    """
    return TER(normalized, no_punct, asian_support, case_sensitive).corpus_score(hypotheses, references)


def sentence_ter(
    hypothesis: str,
    references: Sequence[str | None],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """Returns the translation edit rate of one sentence and its references. Arguments as in ``corpus_ter``.

    >>> sentence_ter("b a", ["a b"]).num_edits  # one shift
    1
    """
    return TER(normalized, no_punct, asian_support, case_sensitive).sentence_score(hypothesis, references)
