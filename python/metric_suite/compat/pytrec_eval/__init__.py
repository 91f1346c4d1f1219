"""Measures of trec_eval with the interface of pytrec_eval 0.5.

>>> from metric_suite.compat import pytrec_eval
>>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "ndcg_cut.1"})
>>> sorted(evaluator.evaluate({"q1": {"d2": 2.0, "d1": 1.5}})["q1"].items())
[('map', 0.5), ('ndcg_cut_1', 0.0)]
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..._native import Judgments, trec_measures

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_HAS_CUTOFFS = dict(trec_measures())

#: The names of all measures.
supported_measures = set(_HAS_CUTOFFS)

# The measures of trec_eval's `all_trec` that are not computed here.
_LEFT_OUT = ("G", "Rndcg", "Rprec_mult", "binG", "ndcg_rel", "relstring")

_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "runid")

#: The names of lists of measures.
supported_nicknames = {
    "official": {
        *_COUNTS,
        "map",
        "gm_map",
        "Rprec",
        "bpref",
        "recip_rank",
        "iprec_at_recall",
        "P",
    },
    "set": {*_COUNTS, "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "utility"},
    "all_trec": {*supported_measures, *_LEFT_OUT},
}

_WITH_CUTOFFS = re.compile(r"(.+?)[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Returns the scores of the documents of each topic, from the lines of a run."""
    run: dict[str, dict[str, float]] = {}
    for line in f_run:
        topic, _, document, _, score, _ = line.strip().split()
        documents = run.setdefault(topic, {})
        assert document not in documents, f"{document} occurs twice in topic {topic}"
        documents[document] = float(score)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Returns the relevance of the documents of each topic, from the lines of a file of judgments."""
    qrel: dict[str, dict[str, int]] = {}
    for line in f_qrel:
        topic, _, document, relevance = line.strip().split()
        documents = qrel.setdefault(topic, {})
        assert document not in documents, f"{document} occurs twice in topic {topic}"
        documents[document] = int(relevance)
    return qrel


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Returns the value over topics: the sum for counts, the geometric mean for ``gm_`` measures, otherwise the mean."""
    values = list(values)
    total = math.fsum(values)
    if measure.startswith("num_"):
        return total
    mean = total / len(values)
    return math.exp(mean) if measure.startswith("gm_") else mean


class RelevanceEvaluator:
    """Computes measures of runs against the same judgments.

    ``query_relevance`` maps topics to dictionaries of documents with their relevance, an integer. ``measures`` has names,
    such as ``map``, ``ndcg_cut`` with the default ranks, and ``ndcg_cut.5,10`` or ``ndcg_cut_5`` with others.

    Raises:
        TypeError: a topic is not a string, a relevance is not an integer, or the level is less than 1.
        ValueError: a measure is unknown.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not isinstance(query_relevance, dict):
            raise TypeError("Argument query_relevance should be a dictionary.")
        if not isinstance(relevance_level, int):
            raise TypeError("Argument relevance_level should be an integer.")
        if relevance_level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        if isinstance(measures, str):
            raise TypeError("Argument measures should be a set of names, not a string.")
        self._measures = _chosen(measures)
        self._level = relevance_level
        self._judged_only = bool(judged_docs_only_flag)
        self._judgments = Judgments(query_relevance)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Returns the measures of each topic that has both judgments and scores.

        Raises:
            TypeError: a topic or a document is not a string, or a score is not a number.
            ValueError: a score is NaN.
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError("Argument scores should be a dictionary.")
        results: Any = self._judgments.evaluate(scores, self._measures, self._level, self._judged_only)
        return dict(results)


def _chosen(measures: Iterable[str]) -> list[tuple[str, list[float] | None]]:
    """Returns the measures in order, each with its cutoffs or ``None`` for the default ones."""
    cutoffs: dict[str, set[str]] = {}
    for given in measures:
        for name in supported_nicknames.get(given, {given}):
            base, chosen = name, set[str]()
            if name not in supported_measures:
                match = _WITH_CUTOFFS.fullmatch(name)
                if match and _HAS_CUTOFFS.get(match[1]):
                    base, chosen = match[1], set(match[2].split(","))
                elif given in supported_nicknames:
                    names = ", ".join(_LEFT_OUT)
                    raise ValueError(f"unsupported measures in {given}: {names}")
                else:
                    raise ValueError(f"unsupported measure {name}")
            cutoffs.setdefault(base, set()).update(chosen)
    named = sorted(cutoffs.items())
    return [(name, sorted(map(float, chosen)) or None) for name, chosen in named]
