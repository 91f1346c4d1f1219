"""What all tokenizers have."""

from __future__ import annotations

from ...._native import bleu_tokens


class BaseTokenizer:
    """Splits a line into tokens under a rule of BLEU, which a derived class names."""

    _NAME = ""

    def signature(self) -> str:
        """Returns the name of the tokenizer, as in signatures."""
        return self._NAME

    def __call__(self, line: str) -> str:
        """Returns the tokens with a space between them."""
        return " ".join(bleu_tokens(self._NAME, line))
