"""The tokenizer ``none``, for tokenized text."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class NoneTokenizer(BaseTokenizer):
    """Returns a line as it is.

    >>> NoneTokenizer()("a  b.")
    'a  b.'
    """

    _NAME = "none"

    def __call__(self, line: str) -> str:
        return line
