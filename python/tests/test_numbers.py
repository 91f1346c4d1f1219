"""Predicted numbers and several labels per example, as arrays and as lists."""

import numpy
import pytest
from golden import rows

import metric_suite
from metric_suite.sklearn import make_scorer

MULTILABEL = [pytest.param(row, id=row["id"]) for row in rows("ranking/multilabel.jsonl")]
SETS = {"jaccard": ["jaccard"], "prf": ["precision", "recall", "f1"], "hamming_loss": ["hamming_loss"]}


def close(found, expected):
    if expected == "nan":
        return found is None
    return found == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("row", MULTILABEL)
def test_rows_of_0_and_1(row):
    weights = {"weights": row["weights"]} if "weights" in row else {}
    for convert in (list, numpy.array, lambda values: numpy.array(values) > 0):
        references, predictions = convert(row["labels"]), convert(row["predictions"])
        for result in row["results"]:
            options, names = result["options"], SETS.get(result["metric"])
            if names is None or options.get("average") == "none":
                continue
            given = {"average": options.get("average", "macro")}
            if "zero_division" in options:
                given["zero_division"] = str(options["zero_division"])
            found = metric_suite.multilabel(predictions=predictions, references=references, **given, **weights)
            values = result["value"] if len(names) > 1 else [result["value"]]
            for name, value in zip(names, values):
                assert close(found[name], value), (name, given)


@pytest.mark.parametrize("row", MULTILABEL)
def test_rows_of_scores(row):
    weights = {"weights": row["weights"]} if "weights" in row else {}
    scores = numpy.array(row["scores"], dtype="float64")
    for result in row["results"]:
        if result["metric"] in ("roc_auc", "average_precision") and result["options"]["average"] != "none":
            found = metric_suite.multilabel(
                predictions=scores,
                references=numpy.array(row["labels"]),
                average=result["options"]["average"],
                profile="sklearn",
                **weights,
            )
            assert close(found[result["metric"]], result["value"]), result


def test_labels_and_objects():
    references = [["a", "b"], ["c"], []]
    found = metric_suite.multilabel(predictions=[["a", "b"], ["b"], []], references=references, average="micro")
    assert (found["precision"], found["recall"], found["subset_accuracy"]) == (2 / 3, 2 / 3, 2 / 3)
    objects = [dict(zip("abc", row)) for row in ([0.9, 0.8, 0.1], [0.2, 0.3, 0.1], [0.0, 0.1, 0.2])]
    found = metric_suite.multilabel(predictions=objects, references=references, threshold=0.5, average="micro")
    assert (found["precision"], found["recall"]) == (1, 2 / 3)
    texts = metric_suite.multilabel(predictions=["a b", "b"], references=["a", "b"], delimiter_in_field=" ")
    assert texts["recall"] == 1
    with pytest.raises(metric_suite.MetricError, match="expected 0 or 1 in each column, found 2"):
        metric_suite.multilabel(predictions=numpy.array([[0, 1, 2]]), references=numpy.array([[0, 1, 1]]))
    with pytest.raises(metric_suite.MetricError, match="listed twice"):
        metric_suite.multilabel(predictions=[["a", "a"]], references=[["a"]])


@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
def test_arrays_of_numbers(kind):
    predictions, references = numpy.array([2, 2, 5], dtype=kind), numpy.array([1, 2, 3], dtype=kind)
    found = metric_suite.regression(predictions=predictions, references=references)
    assert (found["mae"], found["r2"], found["pearson"]) == (1, -1.5, pytest.approx(3 / 12**0.5))
    weighted = metric_suite.regression(predictions=predictions, references=references, weights=[1.0, 0.0, 1.0])
    assert (weighted["mae"], weighted.counts["total"]) == (1.5, 2)
    ranks = metric_suite.rank_correlation(predictions=predictions, references=references)
    assert (ranks["spearman"], ranks["kendall"]) == (pytest.approx(1.5 / 3**0.5), pytest.approx(2 / 6**0.5))
    both = metric_suite.regression(predictions=[2, 2, 5], references=[1.0, 2.0, 3.0])
    assert both == found
    with pytest.raises(metric_suite.MetricError, match=r"predictions\[1\].*found NaN") as error:
        metric_suite.regression(predictions=[1.0, float("nan")], references=[1.0, 2.0])
    assert error.value.index == 1


def test_scorers_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    model_selection = pytest.importorskip("sklearn.model_selection")
    inputs = numpy.arange(20.0).reshape(-1, 1)
    outputs = 3 * inputs[:, 0] + numpy.sin(inputs[:, 0])
    for ours, theirs in [
        (make_scorer("regression", score="mae"), "neg_mean_absolute_error"),
        (make_scorer("regression", score="r2"), "r2"),
        (make_scorer("regression", score="max_error"), "neg_max_error"),
    ]:
        scores = [
            model_selection.cross_val_score(linear_model.LinearRegression(), inputs, outputs, scoring=scoring)
            for scoring in (ours, theirs)
        ]
        assert scores[0] == pytest.approx(scores[1], rel=1e-9)
    ranks = make_scorer("rank-correlation", score="spearman")
    fitted = linear_model.LinearRegression().fit(inputs, outputs)
    assert ranks(fitted, inputs, outputs) == 1
