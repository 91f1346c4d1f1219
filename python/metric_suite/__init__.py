"""Scores model predictions against references: source code, grids, lane graphs, boxes, text, transcripts and labels.

>>> import metric_suite
>>> metric_suite.wer(predictions=["the cat"], references=["the cat sat"])["wer"]
0.3333333333333333
"""

from . import _generated
from ._errors import MetricError
from ._generated import *  # noqa: F403
from ._boxes import Boxes
from ._compare import Comparison, compare
from ._metric import Metric, assert_score, check, merge, score, score_files
from ._listed import MetricInfo, metrics
from ._normalize import normalize
from ._own import register
from ._read import Source, read
from ._report import report
from ._native import __version__
from ._result import CocoResult, Interval, Result, Samples
from ._suite import SuiteResult, TaskResult, run_suite

__all__ = [
    "Boxes",
    "CocoResult",
    "Comparison",
    "Interval",
    "Metric",
    "MetricError",
    "MetricInfo",
    "Result",
    "Samples",
    "Source",
    "SuiteResult",
    "TaskResult",
    "__version__",
    "assert_score",
    "check",
    "compare",
    "merge",
    "metrics",
    "normalize",
    "read",
    "register",
    "report",
    "run_suite",
    "score",
    "score_files",
]
__all__ += _generated.__all__
