"""Panoptic quality with the interface of panopticapi 7bb4655.

>>> from metric_suite.compat.panopticapi.utils import id2rgb, rgb2id
>>> id2rgb(70000), rgb2id([112, 17, 1])
([112, 17, 1], 70000)
"""

from __future__ import annotations

import sys

__author__ = "The metric-suite developers"
__all__ = ["install"]


def install() -> None:
    """Makes ``import panopticapi`` find these modules, in this process, for libraries that import it by name.

    Call it before those libraries are imported: what they imported already stays.
    """
    from . import evaluation, utils

    package = sys.modules[__name__]
    for name, module in (("", package), (".evaluation", evaluation), (".utils", utils)):
        sys.modules[f"panopticapi{name}"] = module
