"""BLEU, chrF and TER with the interface of sacreBLEU 2.6.0.

>>> from metric_suite.compat import sacrebleu
>>> sacrebleu.corpus_chrf(["abc"], [["abd"]])
chrF2 = 38.89

References are lists of reference sets: each set has one reference per hypothesis.

>>> sacrebleu.corpus_bleu(["the cat the cat on the mat"], [["the cat sat on the mat"]])
BLEU = 30.74 71.4/50.0/20.0/12.5 (BP = 1.000 ratio = 1.167 hyp_len = 7 ref_len = 6)
"""

from . import compat, dataset, metrics, tokenizers, utils
from .compat import (
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    raw_corpus_bleu,
    sentence_bleu,
    sentence_chrf,
    sentence_ter,
)
from .metrics import BLEU, CHRF, TER
from .dataset import DATASETS
from .metrics.base import VERSION as __version__
from .metrics.helpers import extract_char_ngrams, extract_word_ngrams
from .utils import (
    get_available_testsets,
    get_available_testsets_for_langpair,
    get_langpairs_for_testset,
    get_reference_files,
    get_source_file,
)

__all__ = [
    "compat",
    "dataset",
    "metrics",
    "tokenizers",
    "utils",
    "DATASETS",
    "get_available_testsets",
    "get_available_testsets_for_langpair",
    "get_langpairs_for_testset",
    "get_reference_files",
    "get_source_file",
    "extract_word_ngrams",
    "extract_char_ngrams",
    "BLEU",
    "CHRF",
    "TER",
    "corpus_bleu",
    "raw_corpus_bleu",
    "sentence_bleu",
    "corpus_chrf",
    "sentence_chrf",
    "corpus_ter",
    "sentence_ter",
    "__version__",
]
