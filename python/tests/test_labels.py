"""Labels, weights and calls as other packages and data frames have them."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest

import metric_suite
from metric_suite import MetricError

BITS = [True, False, True, True]
KINDS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "list of numpy": lambda values: [numpy.bool_(value) for value in values],
    "mapping": lambda values: dict(enumerate(values)),
    "numpy": numpy.array,
    "pandas": pandas.Series,
    "pandas boolean": lambda values: pandas.Series(values, dtype="boolean"),
    "polars": polars.Series,
    "pyarrow": pyarrow.array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_booleans_are_the_labels_0_and_1(kind):
    other = dict(enumerate([1, 0, 1, 0])) if kind == "mapping" else [1, 0, 1, 0]
    result = metric_suite.classification(predictions=KINDS[kind](BITS), references=other, labels=["1"])
    # Three are predicted to be 1, two of them rightly.
    assert (result["accuracy"], result["precision"]) == (0.75, 2 / 3)
    assert metric_suite.classification(predictions=KINDS[kind](BITS), references=KINDS[kind](BITS))["accuracy"] == 1.0


def test_booleans_elsewhere():
    # As references of scores they are classes of their own, and not labels next to strings.
    assert metric_suite.classification_scores(predictions=[0.9, 0.1], references=[True, False])["roc_auc"] == 1.0
    assert metric_suite.accuracy_at_k(predictions=[[0.1, 0.9]], references=[True], k=[1])["accuracy@1"] == 1.0
    with pytest.raises(MetricError, match=r"predictions\[1\]: expected a label"):
        metric_suite.classification(predictions=pandas.Series([True, None], dtype="boolean"), references=[1, 1])


@pytest.mark.parametrize(
    "kind, call",
    [(numpy.array, 'astype("int64")'), (pandas.Series, 'astype("int64")'), (polars.Series, "cast(int)"), (pyarrow.array, 'cast("int64")')],
)
@pytest.mark.parametrize("metric", ["classification", "classification_scores"])
def test_labels_with_decimals_have_a_way_out(kind, call, metric):
    column = kind([0.0, 1.0])
    with pytest.raises(MetricError) as caught:
        getattr(metric_suite, metric)(predictions=[0, 1], references=column)
    assert caught.value.side == "reference" and caught.value.index == 0
    assert 'found 0.0: write it as 0 or, if it is a name, as "0.0"' in str(caught.value)
    assert f"; .{call} turns" in str(caught.value)
    # The call is one that the column has.
    labels = eval(f"column.{call}")
    assert getattr(metric_suite, metric)(predictions=[0, 1], references=labels).examples == 2


def test_sample_weight_is_weights():
    given = {"predictions": [["a"], ["b"]], "references": [["a"], ["a"]]}
    result = metric_suite.multilabel(**given, sample_weight=[3, 1], average="micro")
    assert result["precision"] == 0.75
    assert result == metric_suite.multilabel(**given, weights=[3, 1], average="micro")
    with pytest.raises(MetricError, match="are the same"):
        metric_suite.multilabel(**given, weights=[3, 1], sample_weight=[3, 1])
    with pytest.raises(MetricError, match="multilabel has precision, recall and F1 with weights") as caught:
        metric_suite.score("classification", predictions=["a"], references=["a"], sample_weight=[2])
    assert caught.value.option == "sample_weight"


@pytest.mark.parametrize(
    "call, form",
    [
        (lambda: metric_suite.wer(["a"], ["a"]), "wer(predictions=..., references=...)"),
        (lambda: metric_suite.coco("r.json", "p.json"), "coco(predictions=..., references=...)"),
        (lambda: metric_suite.pass_at_k([[1]]), "pass_at_k(predictions=...)"),
        (lambda: metric_suite.score("wer", ["a"], ["a"]), "score(metric, predictions=..., references=...)"),
        (lambda: metric_suite.compare("wer", ["a"], {"x": ["a"]}), "compare(metric, predictions=..., references=...)"),
        (lambda: metric_suite.compare("wer", predictions={"x": ["a"]}), "compare(metric, predictions=..., references=...)"),
        (lambda: metric_suite.score("pass-at-k"), "score(metric, predictions=...)"),
    ],
)
def test_errors_of_calls_have_the_form(call, form):
    with pytest.raises(TypeError) as caught:
        call()
    assert form in str(caught.value)


def test_codebleu_warns_once_per_process():
    code = "import metric_suite\n" + 2 * (
        "print(metric_suite.codebleu(predictions=['x = 1'], references=['x = 1'], lang='python', profile='codexglue').warnings[0][:12])\n"
    )
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["syntax_match"] * 2
    assert done.stderr.count("current grammars") == 1
