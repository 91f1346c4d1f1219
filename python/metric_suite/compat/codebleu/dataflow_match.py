"""Edges of the references' dataflows that are in the candidates'."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ..._native import count_code
from .utils import check_language


def calc_dataflow_match(references: Sequence[Any], candidate: str, lang: str, langso_so_file: Any = None) -> float:
    """Returns the dataflow match of one candidate. Arguments as in ``corpus_dataflow_match``."""
    return corpus_dataflow_match([references], [candidate], lang, langso_so_file)


def corpus_dataflow_match(
    references: Sequence[Any], candidates: Sequence[str], lang: str, tree_sitter_language: Any = None
) -> float:
    """Returns the share of the references' dataflow edges that are in the candidates; 0 without any edge.

    Args:
        references: For each candidate a list of texts.
        candidates: Texts.
        lang: The language.
        tree_sitter_language: Ignored: the engine has its own grammars.

    Raises:
        AssertionError: If the language is unknown.

    >>> calc_dataflow_match(["x = 1\\ny = x"], "a = 1\\nb = a", "python")
    1.0
    """
    check_language(lang)
    counts = count_code(lang, list(candidates), [list(texts) for texts in references])
    return share_of_edges(*counts[3])


def share_of_edges(found: int, counted: int) -> float:
    """Returns the dataflow match of some counts, and logs a warning where there is nothing to match."""
    if counted == 0:
        logging.warning("no reference has a dataflow: the dataflow match is 0 and says nothing")
        return 0
    return found / counted


def get_data_flow(code: Any, parser: Any) -> None:
    """Not available: it takes a parser object of tree-sitter, and the engine has its own parsers."""
    raise NotImplementedError("get_data_flow is not available: use corpus_dataflow_match")


def normalize_dataflow(dataflow: Any) -> Any:
    """Returns dataflow edges with variables numbered in the order in which they occur.

    Args:
        dataflow: Tuples of a variable, its position, a relation, the variables it comes from, and their positions.

    >>> normalize_dataflow([("y", 3, "comesFrom", ["x"], [1])])
    [('var_1', 'comesFrom', ['var_0'])]
    """
    names: dict[str, str] = {}

    def numbered(name: str) -> Any:
        return names.setdefault(name, f"var_{len(names)}")

    normalized = []
    for variable, _, relation, sources, *_ in dataflow:
        # Sources are numbered first.
        sources = [numbered(source) for source in sources]
        normalized.append((numbered(variable), relation, sources))
    return normalized
