"""COCO data sets, masks and evaluation with the interface of pycocotools 2.0.11.

The numbers equal those of pycocotools to the last bit under NumPy 2.3 and later. Before, NumPy added long arrays in
blocks, and pycocotools differs in the last bit from 9 classes on.

>>> from metric_suite.compat.pycocotools import mask
>>> int(mask.area({"size": [2, 3], "counts": b"024"}))
2
"""

from __future__ import annotations

import sys

__author__ = "The metric-suite developers"
__all__ = ["install"]


def install() -> None:
    """Makes ``import pycocotools`` find these modules, in this process, for libraries that import it by name.

    Call it before those libraries are imported: what they imported already stays.
    """
    from . import coco, cocoeval, mask

    package = sys.modules[__name__]
    for name, module in (("", package), (".coco", coco), (".cocoeval", cocoeval), (".mask", mask)):
        sys.modules[f"pycocotools{name}"] = module
