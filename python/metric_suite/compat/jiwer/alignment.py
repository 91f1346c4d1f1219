"""Alignments and error counts as text."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .process import CharacterOutput, WordOutput

__all__ = ["visualize_alignment", "collect_error_counts", "visualize_error_counts"]

_LETTERS = {"equal": " ", "substitute": "S", "delete": "D", "insert": "I"}


def visualize_alignment(
    output: Any, show_measures: bool = True, skip_correct: bool = True, line_width: int | None = None
) -> str:
    """Returns each reference above its hypothesis, with a letter below each edit.

    Args:
        output: What ``process_words`` or ``process_characters`` returned.
        show_measures: Whether to append the measures and counts.
        skip_correct: Whether to leave out the pairs that are equal.
        line_width: The width in characters at which lines are broken, between units.

    >>> from metric_suite.compat import jiwer
    >>> output = jiwer.process_words("the black cat sat", "the cat sat there")
    >>> print(jiwer.visualize_alignment(output, show_measures=False))
    === SENTENCE 1 ===
    <BLANKLINE>
    REF: the black cat sat *****
    HYP: the ***** cat sat there
                 D             I
    <BLANKLINE>
    """
    is_words = not isinstance(output, CharacterOutput)
    text = ""
    pairs = zip(output.references, output.hypotheses, output.alignments)
    for number, (reference, hypothesis, chunks) in enumerate(pairs, 1):
        if skip_correct and (not chunks or (len(chunks) == 1 and chunks[0].type == "equal")):
            continue
        lines = _lines(reference, hypothesis, chunks, " " if is_words else "", line_width)
        text += f"=== SENTENCE {number} ===\n\n{lines}\n"
    if not show_measures:
        return text[:-1]
    text += (
        f"=== SUMMARY ===\nnumber of sentences: {len(output.alignments)}\n"
        f"substitutions={output.substitutions} deletions={output.deletions} "
        f"insertions={output.insertions} hits={output.hits}\n"
    )
    names = ("mer", "wil", "wip", "wer") if is_words else ("cer",)
    return text + "".join(f"\n{name}={getattr(output, name) * 100:.2f}%" for name in names) + "\n"


def _lines(
    reference: str | list[str], hypothesis: str | list[str], chunks: Any, separator: str, line_width: int | None
) -> str:
    """Returns lines of three: reference, hypothesis and the letters of the edits."""
    blocks, block = [], ["REF: ", "HYP: ", "     "]
    for upper, lower, letter in _columns(reference, hypothesis, chunks):
        width = max(len(upper), len(lower), 1)
        if line_width is not None and len(block[0]) + width > line_width:
            blocks.append(block)
            block = ["REF: ", "HYP: ", "     "]
        if upper == "*":
            upper *= width
        elif lower == "*":
            lower *= width
        block = [line + cell.rjust(width) + separator for line, cell in zip(block, (upper, lower, letter))]
    blocks.append(block)
    # Without the last separator.
    end = -len(separator) or None
    return "\n".join("".join(f"{line[:end]}\n" for line in block) for block in blocks)


def _columns(reference: str | list[str], hypothesis: str | list[str], chunks: Any) -> Any:
    """Yields a unit of the reference, one of the hypothesis, and the letter of the edit; ``*`` where one lacks."""
    for chunk in chunks:
        if chunk.type not in _LETTERS:
            raise ValueError(f"unknown type of alignment: {chunk.type!r}")
        upper = reference[chunk.ref_start_idx : chunk.ref_end_idx]
        lower = hypothesis[chunk.hyp_start_idx : chunk.hyp_end_idx]
        if chunk.type == "delete":
            lower = ["*"] * len(upper)
        elif chunk.type == "insert":
            upper = ["*"] * len(lower)
        for pair in zip(upper, lower):
            yield *pair, _LETTERS[chunk.type]


def collect_error_counts(output: Any) -> Any:
    """Counts which runs of units were substituted, inserted and deleted.

    Args:
        output: What ``process_words`` or ``process_characters`` returned.

    Returns:
        Three mappings: substitutions by (reference, hypothesis), insertions and deletions.

    >>> from metric_suite.compat import jiwer
    >>> substitutions, _, _ = collect_error_counts(jiwer.process_words("a cat", "the cat"))
    >>> dict(substitutions)
    {('a', 'the'): 1}
    """
    substitutions: defaultdict[tuple[str, str], int] = defaultdict(int)
    insertions: defaultdict[str, int] = defaultdict(int)
    deletions: defaultdict[str, int] = defaultdict(int)
    separator = " " if isinstance(output, WordOutput) else ""
    for reference, hypothesis, chunks in zip(output.references, output.hypotheses, output.alignments):
        for chunk in chunks:
            before = separator.join(reference[chunk.ref_start_idx : chunk.ref_end_idx])
            after = separator.join(hypothesis[chunk.hyp_start_idx : chunk.hyp_end_idx])
            if chunk.type == "substitute":
                substitutions[before, after] += 1
            elif chunk.type == "insert":
                insertions[after] += 1
            elif chunk.type == "delete":
                deletions[before] += 1
    return substitutions, insertions, deletions


def visualize_error_counts(
    output: Any,
    show_substitutions: bool = True,
    show_insertions: bool = True,
    show_deletions: bool = True,
    top_k: int | None = None,
) -> str:
    """Returns the edits that ``collect_error_counts`` counts, the most frequent first.

    Args:
        output: What ``process_words`` or ``process_characters`` returned.
        show_substitutions: Whether to show substitutions.
        show_insertions: Whether to show insertions.
        show_deletions: Whether to show deletions.
        top_k: How many of each kind to show; by default all.
    """
    titles = ("SUBSTITUTIONS", "INSERTIONS", "DELETIONS")
    shown = (show_substitutions, show_insertions, show_deletions)
    parts = [
        f"=== {title} ===\n{_frequencies(errors, top_k)}"
        for title, errors, show in zip(titles, collect_error_counts(output), shown)
        if show
    ]
    text = "\n".join(parts)
    return text[:-1] if text.endswith("\n") else text


def _frequencies(errors: Any, top_k: int | None) -> str:
    if not errors:
        return "none"
    ordered = sorted(errors.items(), key=lambda item: item[1], reverse=True)
    rows = [(key if isinstance(key, tuple) else (key,), count) for key, count in ordered]
    width = max(len(unit) for key, _ in rows[:top_k] for unit in key)
    # As in jiwer, a negative number shows none.
    shown = rows if top_k is None else rows[: max(top_k, 0)]
    return "".join(f"{' --> '.join(unit.ljust(width) for unit in key)} = {count}x\n" for key, count in shown)
