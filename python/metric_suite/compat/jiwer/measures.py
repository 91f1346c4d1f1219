"""One measure per function.

``process_words`` and ``process_characters`` give all measures, the alignments and the counts in one call.
"""

from __future__ import annotations

from typing import Any

from .process import measured as _measured
from .transformations import cer_default, wer_default

__all__ = ["wer", "mer", "wil", "wip", "cer"]


def wer(
    reference: str | list[str] | None = None,
    hypothesis: str | list[str] | None = None,
    reference_transform: Any = wer_default,
    hypothesis_transform: Any = wer_default,
) -> float:
    """Returns the word error rate: substitutions, deletions and insertions per word of the references.

    Args:
        reference: The reference, or a list of references.
        hypothesis: The hypothesis, or one per reference.
        reference_transform: What the references go through.
        hypothesis_transform: What the hypotheses go through.

    >>> wer(["the black cat", "sat"], ["the cat", "sat"])
    0.25
    """
    return _measured(reference, hypothesis, reference_transform, hypothesis_transform)[0]


def mer(
    reference: str | list[str] | None = None,
    hypothesis: str | list[str] | None = None,
    reference_transform: Any = wer_default,
    hypothesis_transform: Any = wer_default,
) -> float:
    """Returns the match error rate: the share of edits among hits and edits. Arguments as in ``wer``."""
    return _measured(reference, hypothesis, reference_transform, hypothesis_transform)[1]


def wip(
    reference: str | list[str] | None = None,
    hypothesis: str | list[str] | None = None,
    reference_transform: Any = wer_default,
    hypothesis_transform: Any = wer_default,
) -> float:
    """Returns the word information preserved. Arguments as in ``wer``."""
    return _measured(reference, hypothesis, reference_transform, hypothesis_transform)[3]


def wil(
    reference: str | list[str] | None = None,
    hypothesis: str | list[str] | None = None,
    reference_transform: Any = wer_default,
    hypothesis_transform: Any = wer_default,
) -> float:
    """Returns the word information lost, 1 - ``wip``. Arguments as in ``wer``."""
    return _measured(reference, hypothesis, reference_transform, hypothesis_transform)[2]


def cer(
    reference: str | list[str] | None = None,
    hypothesis: str | list[str] | None = None,
    reference_transform: Any = cer_default,
    hypothesis_transform: Any = cer_default,
) -> float:
    """Returns the character error rate: edits per character of the references. Arguments as in ``wer``.

    >>> cer("cat", "cut")
    0.3333333333333333
    """
    return _measured(reference, hypothesis, reference_transform, hypothesis_transform)[0]
