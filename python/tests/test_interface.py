"""The meaning of values without an option that states it, and objects that are written, copied and read."""

import copy
import inspect
import pickle

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metric_suite

SCORES = numpy.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])


class Protocol:
    """An array that offers one protocol alone."""

    def __init__(self, array, names):
        for name in names:
            setattr(type(self), name, lambda self, *args, _name=name, **options: getattr(array, _name)(*args, **options))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_numbers_are_scores(dtype):
    scores, labels = SCORES.astype(dtype), numpy.array([1, 0, 0])
    assert metric_suite.accuracy_at_k(predictions=scores, references=labels, k=1)["accuracy@1"] == pytest.approx(2 / 3)
    assert metric_suite.mrr(predictions=scores, references=labels)["mrr"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    metric = metric_suite.AccuracyAtK(k=1).update(scores, labels).update(scores, labels)
    assert metric.compute()["accuracy@1"] == pytest.approx(2 / 3)
    assert metric_suite.AccuracyAtK(k=1, ties="optimistic").update(scores, labels).compute()["accuracy@1"] > 0.6
    array = type("Array", (Protocol,), {})(scores, ["__array__"])
    assert metric_suite.accuracy_at_k(predictions=array, references=labels, k=1)["accuracy@1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", ["lists", "tuples", "rows of numpy", "numbers of numpy", "pandas", "polars", "pyarrow", "integers first"])
def test_rows_of_numbers_in_lists_are_scores(kind):
    """The documentation says so, whatever holds the rows: label 1 is first in one row, and second in the other."""
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rows = [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1]]
    scores = {
        "lists": rows,
        "tuples": [tuple(row) for row in rows],
        "rows of numpy": [numpy.array(row, "float32") for row in rows],
        "numbers of numpy": [[numpy.float32(score) for score in row] for row in rows],
        "pandas": pandas.Series(rows),
        "polars": polars.Series(rows),
        "pyarrow": pyarrow.array(rows),
        "integers first": [[0, 1, 0], rows[1]],
    }[kind]
    assert metric_suite.mrr(predictions=scores, references=[1, 1])["mrr"] == 0.75
    assert metric_suite.MRR().update(scores, [1, 1]).compute()["mrr"] == 0.75
    assert metric_suite.accuracy_at_k(predictions=scores, references=[1, 1], k=1)["accuracy@1"] == 0.5


def test_rows_of_numbers_by_id_and_by_system_are_scores():
    rows, labels = [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1]], [1, 1]
    by_id = {"predictions": dict(zip("ab", rows)), "references": dict(zip("ab", labels))}
    assert metric_suite.mrr(**by_id)["mrr"] == 0.75
    assert metric_suite.mrr(predictions=iter(rows), references=iter(labels))["mrr"] == 0.75
    assert metric_suite.MRR().update(iter(rows), labels).compute()["mrr"] == 0.75
    found = metric_suite.compare("mrr", references=labels, predictions={"old": rows, "new": iter([rows[0]] * 2)}, resamples=100)
    assert [system["scores"]["mrr"] for system in found["systems"]] == [0.75, 1.0]


def test_rows_of_labels_stay_labels():
    for rows in ([["a", "b"], ["b", "a"]], [(1, 2), (2, 1)], numpy.array([[1, 2], [2, 1]])):
        assert metric_suite.mrr(predictions=rows, references=[rows[0][0], rows[0][0]])["mrr"] == 0.75
    with pytest.raises(metric_suite.MetricError, match="label"):
        metric_suite.mrr(predictions=[[0.5, 1.5]], references=[1], input="labels")


def test_rows_of_integers_are_labels():
    labels = numpy.array([[1, 2], [3, 4]])
    assert metric_suite.accuracy_at_k(predictions=labels, references=[2, 9], k=2)["accuracy@2"] == 0.5


def test_weights():
    result = metric_suite.accuracy_at_k(predictions=SCORES, references=[1, 0, 0], k=1, weights=numpy.array([1.0, 1.0, 2.0]))
    assert result["accuracy@1"] == 0.5


def test_arrays_of_booleans_and_of_dlpack():
    truth = numpy.array([True, False, True])
    assert metric_suite.classification(predictions=truth, references=truth)["accuracy"] == 1.0
    array = type("Tensor", (Protocol,), {})(numpy.array([1, 0, 0]), ["__dlpack__", "__dlpack_device__"])
    assert metric_suite.classification(predictions=array, references=[1, 0, 1])["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("options", [{}, {"normalize": ["lower"], "profile": "torchmetrics"}])
def test_metrics_without_data_are_written_and_read(options):
    metric = metric_suite.WER(**options)
    again = metric_suite.Metric.from_bytes(metric.to_bytes())
    assert type(again) is metric_suite.WER and again == metric and again.signature == metric.signature
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert (again + metric_suite.WER(**options).update(["a"], ["a"])).compute().examples == 1


def test_results_are_pickled_and_copied():
    boxes = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]], score=[0.9])
    truth = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]])
    result = metric_suite.coco(predictions=boxes, references=truth, samples=True)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert dict(again) == dict(result) and again.to_json() == result.to_json()
        assert type(again) is metric_suite.CocoResult and (again.precision == result.precision).all()
        assert again.samples.to_dict() == result.samples.to_dict()


def test_files_are_added_with_options(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": 1, "reference": "a b"}\n{"id": 2, "reference": "c"}\n')
    (tmp_path / "p.jsonl").write_text('{"id": 1, "prediction": "a b"}\n')
    files = tmp_path / "r.jsonl", tmp_path / "p.jsonl"
    metric = metric_suite.WER().update_files(*files, missing="empty").update_files(*files, missing="empty")
    assert metric.compute()["wer"] == pytest.approx(1 / 3) and metric.compute().missing == 2
    with pytest.raises(metric_suite.MetricError, match="no prediction"):
        metric_suite.WER().update_files(*files)
    with pytest.raises(TypeError, match="unexpected"):
        metric_suite.WER().update_files(*files, normalize="lower")


def test_rows_of_data_sets():
    references = [{"id": "q", "answers": {"text": ["the cat"], "answer_start": [0]}}, {"id": "r", "answers": {"text": ["dog"]}}]
    predictions = [{"id": "r", "prediction_text": "dogs"}, {"id": "q", "prediction_text": "cat"}]
    expected = metric_suite.squad(predictions={"q": "cat", "r": "dogs"}, references={"q": ["the cat"], "r": ["dog"]})
    assert dict(metric_suite.squad(predictions=predictions, references=references)) == dict(expected)
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([{"id": "q", "answers": {"text": ["the cat"], "answer_start": [0]}}])
    assert metric_suite.squad(predictions=predictions[1:], references=rows)["exact_match"] == 1.0
    asked = [{"question_id": 7, "answers": [{"answer": "two"}] * 10}]
    given = [{"question_id": 7, "answer": "two"}]
    assert metric_suite.vqa(predictions=given, references=asked)["accuracy"] == 1.0
    with pytest.raises(metric_suite.MetricError, match="occurs twice"):
        metric_suite.vqa(predictions=given * 2, references=asked)


SHORT = {"cer": "cer", "exact_match": "exact-match", "string_accuracy": "string-accuracy", "wer": "wer"}


@pytest.mark.parametrize("name", SHORT)
@given(pairs=st.lists(st.tuples(st.text("aé \U0001f642", max_size=5), st.text("aé \U0001f642", max_size=5)), max_size=20))
def test_a_few_texts_have_the_result_of_many(name, pairs):
    """Calls with a few texts have a fast path, which their results do not show."""
    predictions, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    function = getattr(metric_suite, name)
    if not pairs:
        with pytest.raises(metric_suite.MetricError, match="no records"):
            function(predictions=predictions, references=references)
        return
    expected = metric_suite.Metric(SHORT[name]).update(tuple(predictions), tuple(references)).compute()
    found = function(predictions=predictions, references=references)
    scored = metric_suite.score(SHORT[name], predictions=predictions, references=references)
    for result in (found, scored):
        assert list(result.items()) == list(expected.items()) and result.warnings == expected.warnings
        assert result.samples is None and result.metric == SHORT[name]
    # The lists are the caller's, who may change them.
    predictions.clear()
    references.append("more")
    for result in (found, pickle.loads(pickle.dumps(scored))):
        assert result.to_json() == expected.to_json() and result.details == expected.details
        assert repr(result) == repr(expected) and result.signature == expected.signature


@pytest.mark.parametrize("name", SHORT)
def test_functions_with_a_short_way_are_functions(name):
    function = getattr(metric_suite, name)
    parameters = inspect.signature(function).parameters
    assert {"predictions", "references", "ids", "samples", "threads"} <= parameters.keys()
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters.values())
    assert function.__name__ == name and function.__module__ == "metric_suite._generated" and "Args:" in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError):
        function(["a"], ["a"])
    with pytest.raises(TypeError, match="references"):
        function(predictions=["a"])
    with pytest.raises(TypeError, match="wrong"):
        function(predictions=["a"], references=["a"], wrong=1)
    with pytest.raises(metric_suite.MetricError, match="2 predictions and 1 reference"):
        function(predictions=["a", "b"], references=["a"])
    with pytest.raises(metric_suite.MetricError, match="expected a string"):
        function(predictions=["a", 1], references=["a", "b"])
    with pytest.raises(metric_suite.MetricError, match="surrogate"):
        function(predictions=["a", "\ud800"], references=["a", "b"])


def test_warnings_belong_to_the_caller():
    def labels(**options):
        return metric_suite.classification(predictions=["a"], references=["b"], **options)

    calls = [
        lambda: labels(),
        lambda: metric_suite.score("classification", predictions=["a"], references=["b"]),
        lambda: metric_suite.Classification().update(["a"], ["b"]).compute(),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="never predicted") as found:
            call()
        assert {warning.filename for warning in found} == {__file__}


def test_errors_of_joins_name_an_id():
    def error(predictions, references, **options):
        with pytest.raises(metric_suite.MetricError) as caught:
            metric_suite.score("wer", predictions=predictions, references=references, **options)
        return caught.value.id

    assert error(["a", "b", "c"], ["a", "b", "c"], ids=["x", "u", "u"]) == "u"
    assert error({"a": "x"}, {"a": "x", "b": "y"}) == "b"
    assert error({"a": "x", "c": "y"}, {"a": "x"}) == "c"
    assert error({"a": "x"}, {"b": "x"}) == "b"


def test_single_texts_are_no_paths():
    with pytest.raises(metric_suite.MetricError, match="references: found one string: expected a sequence") as found:
        metric_suite.wer(predictions="a", references="b")
    assert found.value.side == "reference"
    with pytest.raises(metric_suite.MetricError, match="predictions: found one string: expected a sequence") as found:
        metric_suite.wer(predictions="a", references=["b"])
    assert found.value.side == "prediction"


def test_statistics_of_values_are_checked():
    texts = {"predictions": ["a"], "references": ["a"]}
    with pytest.raises(metric_suite.MetricError, match='"2" for confidence: expected a number between 0 and 1'):
        metric_suite.wer(**texts, confidence=2)
    with pytest.raises(metric_suite.MetricError, match="resamples: expected at least") as found:
        metric_suite.wer(**texts, resamples=1)
    assert found.value.option == "resamples"
    with pytest.raises(metric_suite.MetricError, match="confidence"):
        metric_suite.WER(confidence=0)


def test_results_of_few_texts_keep_what_was_given():
    predictions, references = ["a b", "c"], ["a c", "c"]
    result = metric_suite.wer(predictions=predictions, references=references)
    predictions[:], references[:] = ["x"], ["y"]
    assert result.counts == {"hits": 2, "substitutions": 1, "deletions": 0, "insertions": 0}
    assert result.examples == 2 and type(result) is metric_suite.Result
    assert metric_suite.wer(predictions=["a"] * 17, references=["a"] * 17).examples == 17
    with pytest.raises(TypeError, match=r"wer\(\) missing 1 required keyword-only argument: 'references'"):
        metric_suite.wer(predictions=["a"])
    with pytest.raises(TypeError, match=r"wer\(\) takes keyword arguments: expected wer\(predictions=\.\.\., references=\.\.\.\), found 2"):
        metric_suite.wer(["a"], ["a"])
