"""The tokenizer ``13a``, for Western languages."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class Tokenizer13a(BaseTokenizer):
    """Separates ASCII punctuation, with the rules of ``mteval-v13a``.

    >>> Tokenizer13a()("It's 1,000 &lt;b&gt;.")
    "It's 1,000 < b > ."
    """

    _NAME = "13a"
