"""The metrics, and their scores."""

from .bleu import BLEU, BLEUScore
from .chrf import CHRF, CHRFScore
from .ter import TER, TERScore

__all__ = ["BLEU", "BLEUScore", "CHRF", "CHRFScore", "TER", "TERScore", "METRICS"]

#: The metrics by name.
METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
