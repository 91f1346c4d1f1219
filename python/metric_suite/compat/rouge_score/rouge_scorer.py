"""Scores predictions against targets with ROUGE.

C.-Y. Lin, *ROUGE: a package for automatic evaluation of summaries* (2004).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..._native import rouge_scores
from . import scoring
from .tokenizers import DefaultTokenizer

__all__ = ["RougeScorer"]

_TYPE = re.compile(r"rouge([1-9]|L|Lsum)")


class RougeScorer(scoring.BaseScorer):
    """Scores pairs of texts. Targets come first: exchanging target and prediction exchanges precision and recall.

    Args:
        rouge_types: The types: ``rouge1`` to ``rouge9``, ``rougeL`` and ``rougeLsum``.
        use_stemmer: Whether words of more than 3 letters are replaced by their stem.
        split_summaries: Not offered: texts for ``rougeLsum`` have one sentence per line.
        tokenizer: An object with a method ``tokenize`` that returns the tokens of a text. The stemmer is not used then.

    Raises:
        NotImplementedError: If ``split_summaries`` is true.
    """

    def __init__(
        self,
        rouge_types: Sequence[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Any = None,
    ) -> None:
        if split_summaries:
            raise NotImplementedError(
                "split_summaries needs a model that nltk downloads: split summaries into sentences before, one per line"
            )
        self.rouge_types = rouge_types
        self._tokenizer = DefaultTokenizer(use_stemmer) if tokenizer is None else tokenizer

    def score(self, target: str, prediction: str) -> dict[str, scoring.Score]:
        """Returns the scores of a prediction by type.

        Args:
            target: The reference.
            prediction: The text to score.

        Raises:
            ValueError: If a type is unknown.
        """
        return self.score_multi([target], prediction)

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, scoring.Score]:
        """Returns the scores of a prediction with several targets: for each type the scores of the target with the
        highest F, and of the first of equals.

        Raises:
            ValueError: If a type is unknown, or there are no targets.

        >>> scorer = RougeScorer(["rougeL"])
        >>> scorer.score_multi(["a", "a b"], "a b")["rougeL"].recall
        1.0
        """
        return {name: scores[0] for name, scores in self.score_all([targets], [prediction]).items()}

    def score_all(self, targets: Sequence[Sequence[str]], predictions: Sequence[str]) -> dict[str, list[scoring.Score]]:
        """Returns the scores of many predictions by type, in one call. rouge-score does not have this function.

        Args:
            targets: For each prediction its targets.
            predictions: Texts.

        Raises:
            ValueError: If a type is unknown, a prediction has no targets, or there are not as many of each.
        """
        for name in self.rouge_types:
            if not _TYPE.fullmatch(name):
                raise ValueError(f"invalid ROUGE type {name!r}: expected rouge1 to rouge9, rougeL or rougeLsum")
        if len(targets) != len(predictions):
            raise ValueError(
                f"{len(targets)} lists of targets and {len(predictions)} predictions: expected as many of each"
            )
        for index, texts in enumerate(targets):
            if not len(texts):
                raise ValueError(f"prediction {index} has no targets: expected at least one")
        names = list(dict.fromkeys(self.rouge_types))
        if type(self._tokenizer) is DefaultTokenizer:
            lists = [list(texts) for texts in targets]
            columns = rouge_scores(names, self._tokenizer.use_stemmer, lists, list(predictions))
            by_name = dict(zip(names, columns))
        else:
            by_name = self._score_tokens(names, targets, predictions)
        return {name: [scoring.Score(*score) for score in by_name[name]] for name in names}

    def _score_tokens(self, names: Sequence[str], targets: Any, predictions: Any) -> dict[str, Any]:
        """Scores the tokens of a tokenizer in Python: the engine gets a number for each token."""
        numbers: dict[Any, str] = {}

        def spelled(text: str) -> str:
            return " ".join(numbers.setdefault(token, str(len(numbers))) for token in self._tokenizer.tokenize(text))

        def spelled_by_line(text: str) -> str:
            return "\n".join(map(spelled, filter(None, text.split("\n"))))

        by_name: dict[str, Any] = {}
        for spell, is_lsum in ((spelled, False), (spelled_by_line, True)):
            chosen = [name for name in names if (name == "rougeLsum") == is_lsum]
            if chosen:
                spelled_targets = [[spell(text) for text in texts] for texts in targets]
                columns = rouge_scores(chosen, False, spelled_targets, [spell(text) for text in predictions])
                by_name |= zip(chosen, columns)
        return by_name
