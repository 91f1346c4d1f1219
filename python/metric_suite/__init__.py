"""Scores model predictions against references: source code, grids, lane graphs, boxes, text, transcripts and labels.

>>> import metric_suite
>>> metric_suite.wer(predictions=["the cat"], references=["the cat sat"])["wer"]
0.3333333333333333
"""

from ._errors import MetricError
from ._generated import *  # noqa: F403
from ._generated import NAMES as _NAMES
from ._metric import Boxes, Metric, check, compare, merge, score, score_files
from ._listed import MetricInfo, metrics
from ._native import __version__
from ._result import Interval, Result, Samples

__all__ = [
    "Boxes",
    "Interval",
    "Metric",
    "MetricError",
    "MetricInfo",
    "Result",
    "Samples",
    "__version__",
    "check",
    "compare",
    "merge",
    "metrics",
    "score",
    "score_files",
    *_NAMES,
]
