"""Tokenizers for ``RougeScorer``."""

from __future__ import annotations

import abc
from typing import Any

from ..._native import rouge_tokens

__all__ = ["Tokenizer", "DefaultTokenizer"]


class Tokenizer(abc.ABC):
    """What splits texts into tokens."""

    @abc.abstractmethod
    def tokenize(self, text: str) -> Any:
        """Returns the tokens of a text."""


class DefaultTokenizer(Tokenizer):
    """The tokens of ROUGE.

    Args:
        use_stemmer: Whether tokens of more than 3 letters are replaced by the stem that nltk's Porter stemmer finds.

    >>> DefaultTokenizer(use_stemmer=True).tokenize("Running dogs")
    ['run', 'dog']
    """

    def __init__(self, use_stemmer: bool = False) -> None:
        self.use_stemmer = use_stemmer

    def tokenize(self, text: str) -> list[str]:
        return rouge_tokens(text, self.use_stemmer)
