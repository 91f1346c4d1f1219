"""The common parts of the modules for texts with one or several references."""

from __future__ import annotations

from typing import Any

import datasets


def features() -> Any:
    """Returns the columns: a prediction, and its references or its reference."""
    text = datasets.Value("string")
    return [
        datasets.Features({"predictions": text, "references": references})
        for references in (datasets.Sequence(text), text)
    ]


def lists(references: Any) -> list[Any]:
    """Returns the references of each prediction as a list."""
    return [[texts] if isinstance(texts, str) else list(texts) for texts in references]


def reference_sets(references: Any) -> list[list[Any]]:
    """Returns the references as sets with one reference per prediction.

    Raises:
        ValueError: If predictions have different numbers of references.
    """
    rows = lists(references)
    counts = sorted({len(row) for row in rows})
    if len(counts) > 1:
        raise ValueError(
            f"predictions have {counts[0]} to {counts[-1]} references: expected the same number for each prediction"
        )
    return [list(texts) for texts in zip(*rows)]
