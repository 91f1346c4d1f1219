"""Languages and n-grams."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

AVAILABLE_LANGS = ["java", "javascript", "c_sharp", "php", "c", "cpp", "python", "go", "ruby", "rust"]


def check_language(lang: str) -> None:
    """Raises an AssertionError for a language without grammar and keywords."""
    if lang not in AVAILABLE_LANGS:
        raise AssertionError(f"unknown language {lang!r}: expected one of {', '.join(AVAILABLE_LANGS)}")


def pad_sequence(
    sequence: Any,
    n: int,
    pad_left: bool = False,
    pad_right: bool = False,
    left_pad_symbol: Any = None,
    right_pad_symbol: Any = None,
) -> Iterator[Any]:
    """Returns a sequence with ``n - 1`` symbols before it, after it, or both.

    >>> list(pad_sequence("ab", 2, pad_left=True, left_pad_symbol="<"))
    ['<', 'a', 'b']
    """
    left = [left_pad_symbol] * (n - 1) if pad_left else []
    right = [right_pad_symbol] * (n - 1) if pad_right else []
    return chain(left, sequence, right)


def ngrams(
    sequence: Iterable[Any],
    n: int,
    pad_left: bool = False,
    pad_right: bool = False,
    left_pad_symbol: Any = None,
    right_pad_symbol: Any = None,
) -> Iterator[tuple[Any, ...]]:
    """Returns the runs of ``n`` items.

    >>> list(ngrams("abc", 2))
    [('a', 'b'), ('b', 'c')]
    """
    items = list(pad_sequence(sequence, n, pad_left, pad_right, left_pad_symbol, right_pad_symbol))
    return zip(*(islice(items, start, None) for start in range(max(n, 1))))


def get_tree_sitter_language(lang: str) -> Any:
    """Returns the grammar of a language from the Python packages of tree-sitter, which have to be installed.

    Nothing else here needs them: the engine has its own grammars.

    Raises:
        AssertionError: If the language is unknown.
        ImportError: If ``tree-sitter`` or the package of the language is not installed.
    """
    check_language(lang)
    try:
        from tree_sitter import Language

        package = importlib.import_module(f"tree_sitter_{lang}")
    except ImportError as error:
        name = f"tree-sitter-{lang.replace('_', '-')}"
        raise ImportError(f"the grammar of {lang} is not installed: pip install tree-sitter {name}") from error
    grammar = getattr(package, "language", None) or getattr(package, f"language_{lang}")
    return Language(grammar())
