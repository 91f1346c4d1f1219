"""The common parts of the modules for predicted numbers."""

from __future__ import annotations

from typing import Any

import datasets
import numpy

import metric_suite


def features(config_name: str | None = None) -> Any:
    """Returns the columns: a number per example, or a list of numbers under the configuration `multilist`."""
    number = datasets.Value("float")
    column = datasets.Sequence(number) if config_name == "multilist" else number
    return datasets.Features({"predictions": column, "references": column})


def column(values: Any) -> Any:
    """Returns numbers as an array of float64."""
    return numpy.asarray(values, dtype="float64")


def error(
    score: str, function: str, predictions: Any, references: Any, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Returns an error as scikit-learn's function of this name does. Several numbers per example need scikit-learn."""
    predictions, references = column(predictions), column(references)
    if predictions.ndim > 1:
        from sklearn import metrics

        return getattr(metrics, function)(references, predictions, sample_weight=sample_weight, multioutput=multioutput)
    options: dict[str, Any] = {}
    if sample_weight is not None:
        options["weights"] = column(sample_weight)
    value = metric_suite.regression(predictions=predictions, references=references, **options)[score]
    found = float("nan") if value is None else value
    return numpy.array([found]) if isinstance(multioutput, str) and multioutput == "raw_values" else found


def correlation(metric: Any, score: str, predictions: Any, references: Any) -> float:
    """Returns a correlation; NaN if it is undefined, as in SciPy."""
    value = metric(predictions=column(predictions), references=column(references))[score]
    return float("nan") if value is None else value


def pvalue(function: str, predictions: Any, references: Any) -> float:
    """Returns the p-value of SciPy's function of this name."""
    from scipy import stats

    return float(getattr(stats, function)(column(references), column(predictions))[1])
