"""The tokenizers of BLEU by name, one module each, and the tokenizer of TER."""

from .tokenizer_13a import Tokenizer13a
from .tokenizer_base import BaseTokenizer
from .tokenizer_char import TokenizerChar
from .tokenizer_intl import TokenizerV14International
from .tokenizer_none import NoneTokenizer
from .tokenizer_zh import TokenizerZh

__all__ = ["BaseTokenizer", "TOKENIZERS"]

#: The tokenizers of BLEU.
TOKENIZERS: dict[str, type[BaseTokenizer]] = {
    "none": NoneTokenizer,
    "zh": TokenizerZh,
    "13a": Tokenizer13a,
    "intl": TokenizerV14International,
    "char": TokenizerChar,
}
