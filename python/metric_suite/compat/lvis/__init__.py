"""LVIS data sets and evaluation with the interface of lvis 0.5.3, also with NumPy 1.24 and later.

The arrays of precision and recall equal those of lvis to the last bit.

>>> from metric_suite.compat.lvis import LVISEval
>>> LVISEval.__name__
'LVISEval'
"""

from __future__ import annotations

import sys

from .eval import LVISEval, Params
from .lvis import LVIS
from .results import LVISResults

__author__ = "The metric-suite developers"
__all__ = ["LVIS", "LVISEval", "LVISResults", "install"]


def install() -> None:
    """Makes ``import lvis`` find these modules, in this process, for libraries that import it by name.

    Call it before those libraries are imported: what they imported already stays.
    """
    package = sys.modules[__name__]
    sys.modules["lvis"] = package
    for name in ("lvis", "results", "eval"):
        sys.modules[f"lvis.{name}"] = sys.modules[f"{__name__}.{name}"]
