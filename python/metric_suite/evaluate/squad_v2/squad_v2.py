"""Exact match and F1 of SQuAD v2, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from metric_suite.evaluate._squad import has_answer, scores_of_questions

_DESCRIPTION = "Exact match and F1 of answers, in percent, where questions may have none."
_INPUTS = """
Args:
    predictions: Dictionaries with `id`, `prediction_text` and `no_answer_probability`.
    references: Dictionaries with `id` and `answers`, as in the data set.
    no_answer_threshold: The probability above which a question is taken to have no answer.
"""


class SquadV2(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": {
                        "id": datasets.Value("string"),
                        "prediction_text": datasets.Value("string"),
                        "no_answer_probability": datasets.Value("float32"),
                    },
                    "references": {
                        "id": datasets.Value("string"),
                        "answers": datasets.features.Sequence(
                            {"text": datasets.Value("string"), "answer_start": datasets.Value("int32")}
                        ),
                    },
                }
            ),
        )

    def _compute(self, predictions: Any, references: Any, no_answer_threshold: float = 1.0) -> dict[str, Any]:
        probabilities = {one["id"]: one["no_answer_probability"] for one in predictions}
        answers = {one["id"]: one["prediction_text"] for one in predictions}
        answerable = {one["id"]: has_answer(one) for one in references}
        raw = dict(zip(("exact", "f1"), scores_of_questions(predictions, references, "v2")))
        kept = {}
        for name, scores in raw.items():
            kept[name] = {
                id: score if probabilities[id] <= no_answer_threshold else float(not answerable[id])
                for id, score in scores.items()
            }
        results: dict[str, Any] = self._percent(kept, list(raw["exact"]), "")
        for prefix, wanted in (("HasAns_", True), ("NoAns_", False)):
            ids = [id for id, has in answerable.items() if has == wanted]
            if ids:
                results.update(self._percent(kept, ids, prefix))
        for name, scores in raw.items():
            best, threshold = self._best(scores, probabilities, answers, answerable)
            results[f"best_{name}"], results[f"best_{name}_thresh"] = best, threshold
        return results

    @staticmethod
    def _percent(scores: Any, ids: Any, prefix: str) -> Any:
        results = {f"{prefix}{name}": 100.0 * sum(table[id] for id in ids) / len(ids) for name, table in scores.items()}
        return {**results, f"{prefix}total": len(ids)}

    @staticmethod
    def _best(scores: Any, probabilities: Any, answers: Any, answerable: Any) -> Any:
        """Returns the best score of any threshold, and that threshold."""
        # With a threshold below all probabilities, every question is taken to have no answer.
        total = sum(not has for has in answerable.values())
        best, threshold = total, 0.0
        for id in sorted(probabilities, key=probabilities.get):
            if id not in scores:
                continue
            total += scores[id] if answerable[id] else -1 if answers[id] else 0
            if total > best:
                best, threshold = total, probabilities[id]
        return 100.0 * best / len(scores), threshold
