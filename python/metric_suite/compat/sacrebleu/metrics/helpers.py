"""N-grams, for callers that count them themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

__all__ = [
    "extract_all_word_ngrams",
    "extract_word_ngrams",
    "extract_char_ngrams",
    "extract_all_char_ngrams",
]


def extract_word_ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Returns how often each n-gram of tokens occurs.

    >>> extract_word_ngrams(["a", "b", "a"], 1) == {("a",): 2, ("b",): 1}
    True
    """
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def extract_all_word_ngrams(line: str, min_order: int, max_order: int) -> tuple[Counter[tuple[str, ...]], int]:
    """Returns how often each n-gram of these orders occurs in a line, and the number of tokens.

    >>> extract_all_word_ngrams("a b", 1, 2)[1]
    2
    """
    tokens = line.split()
    counts: Counter[tuple[str, ...]] = Counter()
    for order in range(min_order, max_order + 1):
        counts += extract_word_ngrams(tokens, order)
    return counts, len(tokens)


def extract_char_ngrams(line: str, n: int, include_whitespace: bool = False) -> Counter[str]:
    """Returns how often each n-gram of characters occurs in a line.

    >>> extract_char_ngrams("ab a", 2) == {"ab": 1, "ba": 1}
    True
    """
    text = line if include_whitespace else "".join(line.split())
    return Counter(text[start : start + n] for start in range(len(text) - n + 1))


def extract_all_char_ngrams(line: str, max_order: int, include_whitespace: bool = False) -> list[Counter[str]]:
    """Returns how often each n-gram of characters occurs in a line, for each order from 1.

    >>> len(extract_all_char_ngrams("ab a", 2))
    2
    """
    return [extract_char_ngrams(line, order, include_whitespace) for order in range(1, max_order + 1)]
