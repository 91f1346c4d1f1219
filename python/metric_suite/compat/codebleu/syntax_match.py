"""Subtrees of the references that are in the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._native import count_code
from .utils import check_language


def calc_syntax_match(references: Sequence[Any], candidate: str, lang: str) -> float:
    """Returns the syntax match of one candidate. Arguments as in ``corpus_syntax_match``."""
    return corpus_syntax_match([references], [candidate], lang)


def corpus_syntax_match(
    references: Sequence[Any], candidates: Sequence[str], lang: str, tree_sitter_language: Any = None
) -> float:
    """Returns the share of the references' subtrees that are in the candidates.

    Args:
        references: For each candidate a list of texts.
        candidates: Texts.
        lang: The language.
        tree_sitter_language: Ignored: the engine has its own grammars.

    Raises:
        AssertionError: If the language is unknown.
        ZeroDivisionError: If there are no candidates.

    >>> calc_syntax_match(["x = a + b"], "x = a - b", "python")
    1.0
    """
    check_language(lang)
    _, _, (found, counted), _ = count_code(lang, list(candidates), [list(texts) for texts in references])
    return found / counted
