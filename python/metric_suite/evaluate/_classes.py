"""The common parts of the modules for labels: the table of classes, and scikit-learn's arithmetic on it."""

from __future__ import annotations

import warnings
from typing import Any

import datasets
import numpy

import metric_suite


def features(config_name: str) -> Any:
    """Returns the columns: a label per example, or a list of labels under the configuration `multilabel`."""
    label = datasets.Value("int32")
    column = datasets.Sequence(label) if config_name == "multilabel" else label
    return datasets.Features({"predictions": column, "references": column})


def table(predictions: Any, references: Any) -> Any:
    """Returns the classes in order, and how many examples of each (row) are predicted as each (column)."""
    details = metric_suite.classification(
        predictions=predictions, references=references, zero_division="0", details=True
    ).details
    classes = sorted(details["classes"])
    places = {label: place for place, label in enumerate(classes)}
    counts = numpy.zeros((len(classes), len(classes)), dtype="int64")
    for cell in details["cells"]:
        counts[places[cell["reference"]], places[cell["prediction"]]] = cell["count"]
    return classes, counts


def needs_sklearn(predictions: Any, sample_weight: Any, average: str | None = None) -> bool:
    """Whether scikit-learn has to score: weights, and several labels per example, are not the engine's."""
    several = len(predictions) > 0 and isinstance(predictions[0], (list, tuple, numpy.ndarray))
    return several or sample_weight is not None or average == "samples"


def averaged(
    name: str,
    predictions: Any,
    references: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: Any = "warn",
) -> Any:
    """Returns precision, recall or F1 as scikit-learn does: a number, or an array of one per class."""
    if needs_sklearn(predictions, sample_weight, average):
        from sklearn import metrics

        options = {"labels": labels, "pos_label": pos_label, "average": average, "sample_weight": sample_weight}
        score = getattr(metrics, f"{name}_score")(references, predictions, zero_division=zero_division, **options)
        return _single(score)
    if zero_division not in ("warn", 0, 1) and zero_division == zero_division:  # NaN is allowed.
        raise ValueError(f"invalid value {zero_division!r} for zero_division: expected 0, 1, NaN or 'warn'")
    classes, counts = table(predictions, references)
    if average == "binary":
        labels = _positive(classes, pos_label)
    elif average not in (None, "micro", "macro", "weighted"):
        raise ValueError(f"invalid value {average!r} for average: expected binary, micro, macro, weighted or None")
    places = {label: place for place, label in enumerate(classes)}
    labels = classes if labels is None else list(labels)
    chosen = [places.get(label) for label in labels]

    def of(values: Any) -> Any:
        return numpy.array([0 if place is None else values[place] for place in chosen], dtype="int64")

    right, predicted, true = of(numpy.diag(counts)), of(counts.sum(axis=0)), of(counts.sum(axis=1))
    support = true
    if average == "micro":
        right, predicted, true = (numpy.array([values.sum()]) for values in (right, predicted, true))
    above, below = {
        "precision": (right, predicted),
        "recall": (right, true),
        "f1": (2.0 * right, 1.0 * true + predicted),
    }[name]
    undefined = below == 0
    if zero_division == "warn" and undefined.any():
        warnings.warn(f"{name} is undefined for some classes and set to 0", stacklevel=2)
    filler = 0.0 if zero_division == "warn" else float(zero_division)
    scores = numpy.where(undefined, filler, above / numpy.where(undefined, 1, below))
    if average in ("macro", "weighted"):
        weights = support if average == "weighted" else None
        kept = ~numpy.isnan(scores)
        if not kept.any():
            return float("nan")
        if weights is not None:
            # scikit-learn leaves weights out that are all zero.
            weights = weights[kept] if weights[kept].any() else None
        scores = numpy.average(scores[kept], weights=weights)
    return _single(scores)


def _single(scores: Any) -> Any:
    """Returns a number for an array of one."""
    return float(numpy.ravel(scores)[0]) if numpy.size(scores) == 1 else scores


def _positive(classes: Any, pos_label: Any) -> Any:
    """Returns the one class that a binary score is of."""
    if len(classes) > 2:
        raise ValueError(f"average='binary' with {len(classes)} classes: use micro, macro, weighted or None")
    if pos_label not in classes and len(classes) == 2:
        raise ValueError(f"pos_label={pos_label} is not one of the classes {classes}")
    return [pos_label]
