"""What all metrics have: scoring, signatures, and intervals from resampling."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from ...._native import __version__ as _package_version

#: The version of sacreBLEU whose numbers these are.
VERSION = "2.6.0"

#: The logger of sacreBLEU, so that programs that configure it need no change.
logger = logging.getLogger("sacrebleu")

# Keys that all signatures can have before and after those of the metric, with their short names.
_FIRST = {
    "nrefs": "#",
    "bs": "bs",
    "ar": "ar",
    "seed": "rs",
    "test": "t",
    "lang": "l",
    "origlang": "o",
    "subset": "S",
}
_LAST = {"version": "v", "by": "by"}


class Score:
    """A score.

    Attributes:
        name: The name of the metric.
        score: The score.
    """

    def __init__(self, name: str, score: float) -> None:
        self.name = name
        self.score = score
        # As in sacreBLEU, negative without an interval.
        self._mean = -1.0
        self._ci = -1.0
        self._verbose = ""

    def format(self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False) -> str:
        """Returns the score as text or as JSON.

        Args:
            width: The number of decimals.
            score_only: Whether to return only the number.
            signature: The signature to add.
            is_json: Whether to return JSON, unless ``score_only``.

        >>> Score("TER", 12.345).format(width=1, signature="nrefs:1")
        'TER|nrefs:1 = 12.3'
        """
        score = f"{self.score:.{width}f}"
        mean, interval = f"{self._mean:.{width}f}", f"{self._ci:.{width}f}"
        confidence = f"μ = {mean} ± {interval}" if self._mean > 0 else ""
        text = f"{score} ({confidence})" if confidence else score
        if score_only:
            return text
        if not is_json:
            head = f"{self.name}|{signature}" if signature else self.name
            return " ".join(part for part in (head, "=", text, self._verbose) if part)
        fields: dict[str, Any] = {"name": self.name, "score": float(score), "signature": signature}
        if confidence:
            fields |= {"confidence_mean": float(mean), "confidence_var": float(interval), "confidence": confidence}
        if self._verbose:
            fields["verbose_score"] = self._verbose
        for part in signature.split("|") if signature else ():
            key, _, value = part.partition(":")
            fields[key] = value
        return json.dumps(fields, indent=1, ensure_ascii=False)

    def estimate_ci(self, scores: Sequence[Score]) -> None:
        """Sets the mean and half the width of the interval that has 95% of the scores of resampled corpora."""
        values = sorted(score.score for score in scores)
        outside = len(values) // 40
        self._mean = sum(values) / len(values)
        self._ci = (values[len(values) - 1 - outside] - values[outside]) / 2

    def __repr__(self) -> str:
        return self.format()


class Signature:
    """What a reader must know to compute a score again.

    Attributes:
        info: Values by key. Keys whose value is ``None`` are left out.
    """

    def __init__(self, info: dict[str, Any], short_names: dict[str, str]) -> None:
        self.info = {**dict.fromkeys(_FIRST), **info, "version": VERSION, "by": f"metric-suite:{_package_version}"}
        self._short_names = {**_FIRST, **short_names, **_LAST}

    def format(self, short: bool = False) -> str:
        """Returns the signature as text, with short names if ``short``."""
        keys = [key for key in self.info if key not in _LAST] + list(_LAST)
        names = self._short_names if short else {}
        return "|".join(f"{names.get(key, key)}:{self.info[key]}" for key in keys if self.info[key] is not None)

    def update(self, key: str, value: Any) -> None:
        """Sets the value of a key."""
        self.info[key] = value

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return self.format()


S = TypeVar("S", bound=Score)


class Metric(Generic[S]):
    """A metric of hypotheses and their references.

    Attributes:
        num_refs: The number of references per segment that was scored last, or ``var`` if it varies.
        n_bootstrap: The number of resampled corpora, if there were any.
        seed: The seed of the resampling.
    """

    def __init__(self, references: Sequence[Sequence[str | None]] | None = None) -> None:
        self.num_refs: int | str | None = None
        self.n_bootstrap: int | None = None
        self.seed: int | str | None = None
        self._references = None if references is None else self._checked(references)

    def corpus_score(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None, n_bootstrap: int = 1
    ) -> S:
        """Scores a corpus.

        Args:
            hypotheses: Texts.
            references: Reference sets, each with one text per hypothesis, where ``None`` is not a reference; or
                ``None`` for those given to the constructor.
            n_bootstrap: The number of resampled corpora from which an interval is computed, if more than 1. This needs
                NumPy. The seed is in the environment variable ``SACREBLEU_SEED``: an integer, or ``none``.

        Raises:
            TypeError: If ``hypotheses`` or a reference set is not a sequence of strings.
            IndexError: If there are no hypotheses or no references.
            ValueError: If a segment has no reference.
            RuntimeError: If there are no references, and none were given to the constructor.
        """
        streams = self._streams(hypotheses, references)
        score = self._compute_score_from_stats(self._statistics(hypotheses, streams, False)[0])
        if n_bootstrap > 1:
            self._bootstrap(score, self._statistics(hypotheses, streams, True), n_bootstrap)
        return score

    def sentence_score(self, hypothesis: str, references: Sequence[str | None]) -> S:
        """Scores one sentence.

        Args:
            hypothesis: A text.
            references: Its references.

        Raises:
            TypeError: If ``hypothesis`` is not a string, or ``references`` is not a sequence of strings.
            IndexError: If there are no references.
            ValueError: If all references are ``None``.
        """
        if not isinstance(hypothesis, str):
            raise TypeError(f"{self._name}: the hypothesis has the type {_type(hypothesis)}: expected a string")
        if not _is_list(references):
            raise TypeError(f"{self._name}: references have the type {_type(references)}: expected a list of strings")
        return self.corpus_score([hypothesis], [[reference] for reference in references])

    def get_signature(self) -> Signature:
        """Returns the signature of the last score.

        Raises:
            ValueError: If nothing was scored.
        """
        if self.num_refs is None:
            raise ValueError("the number of references is not known: compute a score before its signature")
        values = {"nrefs": self.num_refs, "bs": self.n_bootstrap, "seed": self.seed}
        keys = self._signature_keys()
        info = {key: value for key, (_, value) in keys.items()}
        return Signature({**values, **info}, {key: short for key, (short, _) in keys.items()})

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _signature_keys(self) -> dict[str, tuple[str, Any]]:
        """Returns the short name and the value of each key of this metric."""
        raise NotImplementedError

    def _count(self, hypotheses: Any, streams: Any, each: bool) -> tuple[list[Any], tuple[int, int] | None]:
        """Returns the statistics of each segment or of all together, and the fewest and the most references."""
        raise NotImplementedError

    def _compute_score_from_stats(self, stats: Any) -> S:
        """Computes a score from statistics."""
        raise NotImplementedError

    def _extract_corpus_statistics(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
    ) -> list[list[Any]]:
        """Returns the statistics of each segment."""
        return self._statistics(hypotheses, self._streams(hypotheses, references), True)

    def _statistics(self, hypotheses: Any, streams: Any, each: bool) -> list[list[Any]]:
        rows, counts = self._count(hypotheses, streams, each)
        if counts is None:
            raise IndexError(f"{self._name}: no segments to score")
        fewest, most = counts
        self.num_refs = fewest if fewest == most else "var"
        return [list(row) for row in rows]

    def _streams(self, hypotheses: Any, references: Any) -> Any:
        """Returns the reference sets to use, and warns about their lengths."""
        if not _is_list(hypotheses):
            raise TypeError(f"{self._name}: hypotheses have the type {_type(hypotheses)}: expected a list of strings")
        if references is None and self._references is None:
            raise RuntimeError(f"{self._name}: no references were given, here or to the constructor")
        streams = self._references if references is None else self._checked(references)
        if not streams:
            raise IndexError(f"{self._name}: no reference sets: expected at least one")
        lengths = [len(hypotheses), *map(len, streams)]
        if len(set(lengths)) > 1:
            warnings.warn(
                f"{lengths[0]} hypotheses, and reference sets with {', '.join(map(str, lengths[1:]))} references: "
                f"only the first {min(lengths)} are scored, as sacreBLEU does. "
                "Expected reference sets, each with one reference per hypothesis",
                stacklevel=_depth_of_caller(),
            )
        return streams

    def _checked(self, references: Any) -> list[Any]:
        if not _is_list(references) or not all(map(_is_list, references)):
            raise TypeError(f"{self._name}: expected references as a list of reference sets, each a list of strings")
        return list(references)

    def _bootstrap(self, score: S, rows: list[list[Any]], samples: int) -> None:
        import numpy

        seed = os.environ.get("SACREBLEU_SEED", "12345")
        self.n_bootstrap, self.seed = samples, seed.lower()
        generator = numpy.random.default_rng(None if self.seed == "none" else int(seed))
        statistics = numpy.array(rows)
        scores = []
        for _ in range(samples):
            drawn = numpy.bincount(generator.choice(len(rows), len(rows)), minlength=len(rows))
            scores.append(self._compute_score_from_stats((drawn @ statistics).tolist()))
        score.estimate_ci(scores)


def _depth_of_caller() -> int:
    """Returns how far above the function that calls this one the first function outside of this package is."""
    package = __name__.rpartition(".metrics")[0]
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_list(values: Any) -> bool:
    return hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, (str, bytes))


def _type(value: Any) -> str:
    return type(value).__name__
