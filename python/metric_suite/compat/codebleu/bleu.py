"""BLEU of tokens: Papineni et al., *BLEU: a method for automatic evaluation of machine translation* (ACL 2002)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .utils import ngrams

_UNIFORM = (0.25, 0.25, 0.25, 0.25)


def sentence_bleu(
    references: Sequence[Any],
    hypothesis: Sequence[Any],
    weights: Sequence[float] = _UNIFORM,
    smoothing_function: Any = None,
    auto_reweigh: bool = False,
) -> float:
    """Returns the BLEU of one hypothesis. Arguments as in ``corpus_bleu``.

    >>> sentence_bleu([["a", "b", "c", "d"]], ["a", "b", "c", "d"])
    1.0
    """
    return corpus_bleu([references], [hypothesis], weights, smoothing_function, auto_reweigh)


def corpus_bleu(
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    weights: Sequence[float] = _UNIFORM,
    smoothing_function: Any = None,
    auto_reweigh: bool = False,
) -> float:
    """Returns the BLEU of a corpus, whose n-grams are pooled.

    Args:
        list_of_references: For each hypothesis its references, each a list of tokens.
        hypotheses: Lists of tokens.
        weights: The weight of each order of n-grams, from 1.
        smoothing_function: What makes the pairs of matched and counted n-grams positive; by default
            ``SmoothingFunction().method1``.
        auto_reweigh: Whether fewer than 4 tokens in all hypotheses make the default weights fewer.

    Raises:
        AssertionError: If there are not as many hypotheses as lists of references.
        ValueError: If a hypothesis has no references.
    """
    return pooled_bleu(modified_precision, list_of_references, hypotheses, weights, smoothing_function, auto_reweigh)


def pooled_bleu(
    match: Any,
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    weights: Sequence[float],
    smoothing_function: Any,
    auto_reweigh: bool,
) -> float:
    """Returns the BLEU of what ``match`` counts in each hypothesis."""
    assert len(list_of_references) == len(hypotheses), (
        f"{len(hypotheses)} hypotheses and {len(list_of_references)} lists of references: expected as many of each"
    )
    orders = range(1, len(weights) + 1)
    matched, counted = dict.fromkeys(orders, 0), dict.fromkeys(orders, 0)
    hypothesis_length = reference_length = 0
    for references, hypothesis in zip(list_of_references, hypotheses):
        for order in orders:
            numerator, denominator = match(references, hypothesis, order)
            matched[order] += numerator
            counted[order] += denominator
        hypothesis_length += len(hypothesis)
        reference_length += closest_ref_length(references, len(hypothesis))
    if auto_reweigh and hypothesis_length < 4 and weights == _UNIFORM:
        weights = (1 / hypothesis_length,) * hypothesis_length
    ratios = [(matched[order], counted[order]) for order in range(1, len(weights) + 1)]
    return bleu_of_counts(
        ratios,
        brevity_penalty(reference_length, hypothesis_length),
        weights,
        smoothing_function,
        references=list_of_references[-1] if list_of_references else None,
        hypothesis=hypotheses[-1] if hypotheses else None,
        hyp_len=hypothesis_length,
    )


def bleu_of_counts(
    ratios: Any, penalty: float, weights: Sequence[float] = _UNIFORM, smoothing_function: Any = None, **context: Any
) -> float:
    """Returns the geometric mean of matched over counted n-grams, times the penalty; 0 without any match."""
    if not ratios or ratios[0][0] == 0:
        return 0
    ratios = (smoothing_function or _METHOD1)(ratios, **context)
    logarithms = [weight * math.log(ratio[0] / ratio[1]) for weight, ratio in zip(weights, ratios)]
    return penalty * math.exp(math.fsum(logarithms))


def modified_precision(references: Sequence[Any], hypothesis: Sequence[Any], n: int) -> Any:
    """Returns the number of n-grams of a hypothesis that are in its references, and the number of all, at least 1.

    The matches of an n-gram are limited by its largest count in a single reference.

    Raises:
        KeyError: If there are n-grams, and no references.

    >>> modified_precision([["b", "c", "a"]], ["a", "a", "b", "c"], 1)
    (3, 4)
    """
    counts = Counter(ngrams(hypothesis, n))
    if counts and not references:
        raise KeyError("no references")
    most: Counter[Any] = Counter()
    for reference in references:
        most |= Counter(ngrams(reference, n))
    matched = sum(min(count, most[ngram]) for ngram, count in counts.items())
    return matched, max(1, sum(counts.values()))


def closest_ref_length(references: Sequence[Any], hyp_len: int) -> int:
    """Returns the length of the reference closest in length; of two, the shorter.

    >>> closest_ref_length([["a"] * 13, ["a"] * 11], 12)
    11
    """
    return min((len(reference) for reference in references), key=lambda length: (abs(length - hyp_len), length))


def brevity_penalty(closest_ref_len: float, hyp_len: int) -> float:
    """Returns the factor for hypotheses that are shorter than their references.

    >>> brevity_penalty(5, 6)
    1
    """
    if hyp_len > closest_ref_len:
        return 1
    return math.exp(1 - closest_ref_len / hyp_len) if hyp_len else 0


class SmoothingFunction:
    """Smoothing of orders without a match.

    Args:
        epsilon: What counts as matched where nothing matches.
        alpha: Kept for callers; no method uses it.
        k: Kept for callers; no method uses it.
    """

    def __init__(self, epsilon: float = 0.1, alpha: float = 5, k: float = 5) -> None:
        self.epsilon, self.alpha, self.k = epsilon, alpha, k

    def method1(self, p_n: Sequence[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Method 1 of Chen and Cherry (WMT 2014).

        >>> SmoothingFunction().method1([(2, 4), (0, 3)])
        [(2, 4), (0.1, 3)]
        """
        return [ratio if ratio[0] != 0 else (ratio[0] + self.epsilon, ratio[1]) for ratio in p_n]


_METHOD1 = SmoothingFunction().method1
