"""The tokenizer ``zh``, for Chinese."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class TokenizerZh(BaseTokenizer):
    """Separates each Chinese character, and the rest as ``13a`` does, without entities.

    >>> TokenizerZh()("你好, Bob!")
    '你 好 , Bob !'
    """

    _NAME = "zh"
