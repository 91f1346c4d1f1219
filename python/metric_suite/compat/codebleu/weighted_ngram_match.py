"""Weighted n-gram match of tokens. Each reference is a pair of its tokens and a mapping of tokens to weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .bleu import _UNIFORM, SmoothingFunction, brevity_penalty, closest_ref_length, pooled_bleu
from .utils import ngrams

__all__ = [
    "SmoothingFunction",
    "brevity_penalty",
    "closest_ref_length",
    "corpus_bleu",
    "modified_recall",
    "sentence_bleu",
]


def sentence_bleu(
    references: Sequence[Any],
    hypothesis: Sequence[Any],
    weights: Sequence[float] = _UNIFORM,
    smoothing_function: Any = None,
    auto_reweigh: bool = False,
) -> float:
    """Returns the weighted n-gram match of one hypothesis. Arguments as in ``corpus_bleu``."""
    return corpus_bleu([references], [hypothesis], weights, smoothing_function, auto_reweigh)


def corpus_bleu(
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    weights: Sequence[float] = _UNIFORM,
    smoothing_function: Any = None,
    auto_reweigh: bool = False,
) -> float:
    """Returns the weighted n-gram match of a corpus.

    As in codebleu 0.7.0 it is a recall, and the length of a reference is that of the pair, 2.

    Args:
        list_of_references: For each hypothesis its references, each a pair of tokens and their weights.
        hypotheses: Lists of tokens.
        weights: The weight of each order of n-grams, from 1.
        smoothing_function: As in ``bleu.corpus_bleu``.
        auto_reweigh: As in ``bleu.corpus_bleu``.
    """
    return pooled_bleu(modified_recall, list_of_references, hypotheses, weights, smoothing_function, auto_reweigh)


def modified_recall(references: Sequence[Any], hypothesis: Sequence[Any], n: int) -> tuple[float, float]:
    """Returns how many n-grams of the references are in a hypothesis, and how many they have.

    Order 1 adds up the weights of tokens. Each reference counts at least 1.

    >>> modified_recall([[["if", "a"], {"if": 1, "a": 0.2}]], ["a"], 1)
    (0.2, 1.2)
    """
    counts = Counter(ngrams(hypothesis, n))
    matched = counted = 0
    for reference, weights in references:
        # One sum after the other, in the order in which tokens occur: rounded sums depend on it.
        ours = Counter(ngrams(reference, n))
        weighted = n == 1 and len(weights) == len(ours)
        found = total = 0
        for ngram, count in ours.items():
            weight = weights.get(ngram[0], 1) if weighted else 1
            found += min(count, counts[ngram]) * weight
            total += count * weight
        matched += found
        counted += max(1, total)
    return matched, counted
