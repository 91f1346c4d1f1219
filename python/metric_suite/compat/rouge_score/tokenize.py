"""Splits texts into the tokens that ROUGE compares."""

from __future__ import annotations

from typing import Any

from ..._native import rouge_tokens


def tokenize(text: str, stemmer: Any) -> list[str]:
    """Returns the tokens of a text: runs of the letters a to z and digits, in lowercase.

    Args:
        text: A text.
        stemmer: What stems tokens of more than 3 letters: ``None``, or an object with a method ``stem``.

    >>> tokenize("Don't tell café!", None)
    ['don', 't', 'tell', 'caf']
    """
    tokens = rouge_tokens(text, False)
    return tokens if stemmer is None else [stemmer.stem(token) if len(token) > 3 else token for token in tokens]
