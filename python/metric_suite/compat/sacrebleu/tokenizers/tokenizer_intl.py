"""The tokenizer ``intl``, for all scripts that separate words."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class TokenizerV14International(BaseTokenizer):
    """Separates punctuation and symbols of all scripts, with the rules of ``mteval-v14``.

    >>> TokenizerV14International()("«a» 1–2 €5")
    '« a » 1–2 € 5'
    """

    _NAME = "intl"
