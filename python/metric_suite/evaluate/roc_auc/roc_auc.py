"""The area under the ROC curve, as Hugging Face's evaluate computes it."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate
import numpy

import metric_suite

_DESCRIPTION = "Area under the receiver operating characteristic."
_INPUTS = """
Args:
    references: Labels.
    prediction_scores: A score per example, or under the configuration `multiclass` one per class.
    average: "macro", "weighted", "micro" or None for one score per class.
    sample_weight: A weight per example.
    max_fpr: The greatest false positive rate. Needs scikit-learn, and so does the configuration `multilabel`.
    multi_class: "ovr" or "ovo" for several classes.
    labels: The classes in the order of the scores.
"""


class ROCAUC(evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        score, label = datasets.Value("float"), datasets.Value("int32")
        several = self.config_name in ("multiclass", "multilabel")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "prediction_scores": datasets.Sequence(score) if several else score,
                    "references": datasets.Sequence(label) if self.config_name == "multilabel" else label,
                }
            ),
        )

    def _compute(
        self,
        references: Any,
        prediction_scores: Any,
        average: str | None = "macro",
        sample_weight: Any = None,
        max_fpr: float | None = None,
        multi_class: str = "raise",
        labels: Any = None,
    ) -> dict[str, Any]:
        references, scores = numpy.asarray(references), numpy.asarray(prediction_scores)
        if references.ndim > 1 or max_fpr is not None or average is None or average == "samples":
            from sklearn.metrics import roc_auc_score

            options = {"average": average, "sample_weight": sample_weight, "max_fpr": max_fpr}
            value = roc_auc_score(references, scores, multi_class=multi_class, labels=labels, **options)
            return {"roc_auc": value}
        options = {} if sample_weight is None else {"weights": sample_weight}
        if scores.ndim == 2:
            if multi_class not in ("ovr", "ovo"):
                raise ValueError("multi_class must be in ('ovo', 'ovr')")
            classes = numpy.unique(references) if labels is None else labels
            options.update(average=average, multi_class=multi_class, classes=[str(label) for label in classes])
        else:
            # scikit-learn takes the greater of two labels as the positive one.
            references = (references == references.max()).astype("int64")
            options["allow_decision_values"] = True
        result = metric_suite.classification_scores(predictions=scores, references=references, **options)
        if result["roc_auc"] is None and scores.ndim == 2:
            raise ValueError("; ".join(result.warnings) or "the area under the curve is undefined")
        return {"roc_auc": float("nan") if result["roc_auc"] is None else result["roc_auc"]}
