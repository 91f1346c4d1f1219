"""Exact match and F1 of SQuAD v1.1, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from metric_suite.evaluate._squad import scores_of_questions

_DESCRIPTION = "Exact match and F1 of answers, in percent."
_INPUTS = """
Args:
    predictions: Dictionaries with `id` and `prediction_text`.
    references: Dictionaries with `id` and `answers`, as in the data set.
"""


class Squad(evaluate.Metric):
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

    def _compute(self, predictions: Any, references: Any) -> dict[str, Any]:
        exact, f1 = scores_of_questions(predictions, references, "v1.1")
        # Questions without prediction count, and score 0.
        totals = {"exact_match": sum(exact.values()), "f1": sum(f1.values())}
        return {name: 100.0 * total / len(references) for name, total in totals.items()}
