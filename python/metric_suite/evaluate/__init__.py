"""Modules for Hugging Face's ``evaluate``, with the names, options and results of its own.

>>> import metric_suite.evaluate
>>> metric_suite.evaluate.path("wer").name
'wer'

``evaluate.load(str(metric_suite.evaluate.path("wer")))`` loads one.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["NAMES", "path"]

#: The modules.
NAMES = sorted(entry.parent.name for entry in Path(__file__).parent.glob("*/*.py") if entry.stem == entry.parent.name)


def path(name: str) -> Path:
    """Returns the directory of a module, which ``evaluate.load`` takes as a string.

    Raises:
        ValueError: If there is no such module.
    """
    if name not in NAMES:
        raise ValueError(f"no module {name!r}: expected one of {', '.join(NAMES)}")
    return Path(__file__).parent / name
