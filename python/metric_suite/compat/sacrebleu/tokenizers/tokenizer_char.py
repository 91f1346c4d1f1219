"""The tokenizer ``char``."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class TokenizerChar(BaseTokenizer):
    """Separates all characters.

    >>> TokenizerChar()("ab c")
    'a b   c'
    """

    _NAME = "char"

    def __call__(self, line: str) -> str:
        return " ".join(line)
