"""The tokenizer of TER."""

from __future__ import annotations

from ...._native import ter_tokens
from .tokenizer_base import BaseTokenizer


class TercomTokenizer(BaseTokenizer):
    """Splits a line as Tercom does.

    Args:
        normalized: Whether to separate punctuation.
        no_punct: Whether to remove punctuation.
        asian_support: Whether the two options above know Chinese and Japanese characters.
        case_sensitive: Whether to keep upper case.

    >>> TercomTokenizer(normalized=True)("Jim's car.")
    "jim 's car ."
    """

    _NAME = "tercom"

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self._normalized = normalized
        self._no_punct = no_punct
        self._asian_support = asian_support
        self._case_sensitive = case_sensitive

    def __call__(self, line: str) -> str:
        options = (self._normalized, self._no_punct, self._asian_support, self._case_sensitive)
        return " ".join(ter_tokens(options, line))
