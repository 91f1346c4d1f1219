"""Word and character error rates with the interface of jiwer 4.0.0.

>>> from metric_suite.compat import jiwer
>>> jiwer.wer("the black cat sat", "the cat sat there")
0.5
"""

from .alignment import *  # noqa: F403
from .measures import *  # noqa: F403
from .process import *  # noqa: F403
from .transformations import *  # noqa: F403
from .transforms import *  # noqa: F403

name = "jiwer"
