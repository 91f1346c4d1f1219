"""Values of every library, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metric_suite
from metric_suite import MetricError

TEXTS = {
    "list": list,
    "tuple": tuple,
    "iterator": lambda texts: iter(texts),
    "numpy": lambda texts: numpy.array(texts, dtype=object),
    "numpy str": lambda texts: numpy.array(texts),
    "pandas": pandas.Series,
    "pandas arrow": lambda texts: pandas.Series(texts, dtype="string[pyarrow]"),
    "polars": polars.Series,
    "pyarrow": pyarrow.array,
    "pyarrow large": lambda texts: pyarrow.array(texts, pyarrow.large_string()),
    "pyarrow view": lambda texts: pyarrow.array(texts, pyarrow.string_view()),
    "pyarrow dictionary": lambda texts: pyarrow.array(texts).dictionary_encode(),
    "pyarrow chunks": lambda texts: pyarrow.chunked_array([texts[:1], texts[1:]]),
    "pyarrow slice": lambda texts: pyarrow.array(["before", *texts, "after"]).slice(1, len(texts)),
}


@pytest.mark.parametrize("kind", TEXTS.values(), ids=TEXTS)
def test_texts(kind):
    predictions, references = ["the cat", "", "früh \x00 🙂"], ["the cat sat", "a", "früh \x00 🙂"]
    result = metric_suite.wer(predictions=kind(predictions), references=kind(references))
    # One word of seven is missing in the first, and one in the second.
    assert result.counts == {"hits": 5, "substitutions": 0, "deletions": 2, "insertions": 0}


@pytest.mark.parametrize("kind", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("metric", ["exact-match", "string-accuracy"])
def test_equal_texts(metric, kind):
    predictions, references = ["the cat", "", "früh", "früh "], ["the cats", "", "früh", "früh"]
    for threads in (1, 2):
        result = metric_suite.score(metric, predictions=kind(predictions), references=kind(references), threads=threads)
        assert result.counts == {"correct": 2, "total": 4}


def test_nulls_among_equal_texts():
    texts = pyarrow.array(["a", None, "b"])
    with pytest.raises(MetricError, match=r"references\[1\]: expected a string, found null"):
        metric_suite.exact_match(predictions=pyarrow.array(["a", "a", "b"]), references=texts)


@pytest.mark.parametrize("kind", ["utf8", "large_utf8", "string_view"])
@pytest.mark.parametrize("chunks", [1, 2])
def test_texts_that_are_not_utf8_are_refused(kind, chunks):
    """Arrow arrays come from anywhere: bytes that are not UTF-8 are found, however the texts are stored."""
    bad = pyarrow.array([b"a", b"\xff" * 20]).cast({"string_view": "binary_view", "utf8": "binary"}.get(kind, "large_binary"))
    bad = pyarrow.chunked_array([bad.view(getattr(pyarrow, kind)())] * chunks)
    good = ["a", "b"] * chunks
    with pytest.raises(MetricError, match="predictions: the text at index 1 is not UTF-8"):
        metric_suite.exact_match(predictions=bad, references=good)


INTEGERS = {
    "list": list,
    "numpy int64": lambda labels: numpy.array(labels, dtype="int64"),
    "numpy int8": lambda labels: numpy.array(labels, dtype="int8"),
    "numpy big endian": lambda labels: numpy.array(labels, dtype=">i4"),
    "numpy strided": lambda labels: numpy.array(labels + labels).reshape(2, -1)[0],
    "numpy reversed": lambda labels: numpy.array(labels[::-1])[::-1],
    "pandas": pandas.Series,
    "polars": polars.Series,
    "polars int16": lambda labels: polars.Series(labels, dtype=polars.Int16),
    "pyarrow": pyarrow.array,
    "pyarrow chunks": lambda labels: pyarrow.chunked_array([labels[:2], labels[2:]]),
}


@pytest.mark.parametrize("kind", INTEGERS.values(), ids=INTEGERS)
def test_integers(kind):
    result = metric_suite.classification(predictions=kind([1, 2, 2, 0]), references=kind([1, 2, 0, 0]))
    assert result["accuracy"] == 0.75


@pytest.mark.parametrize("dtype", ["float64", "float32", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scores(dtype, order):
    scores = numpy.array([[0.1, 0.9, 0.5], [0.8, 0.1, 0.2]], dtype=dtype, order=order)
    result = metric_suite.accuracy_at_k(predictions=scores, references=[2, 0], input="scores", k=[1, 2])
    assert dict(result) == {"accuracy@1": 0.5, "accuracy@2": 1.0}


def test_a_text_is_never_a_number():
    assert metric_suite.classification(predictions=["1"], references=["1"])["accuracy"] == 1.0
    with pytest.warns(UserWarning, match="1 integer and the string|zero_division=0"):
        assert metric_suite.classification(predictions=["1"], references=[1])["accuracy"] == 0.0


def refused(function, **arguments) -> MetricError:
    with pytest.raises(MetricError) as caught:
        function(**arguments)
    return caught.value


def test_what_is_refused():
    wer = metric_suite.wer
    error = refused(wer, predictions="abc", references=["abc"])
    assert str(error).startswith("predictions: found one string")
    assert error.side == "prediction"

    error = refused(wer, predictions=["a", 1.5], references=["a", "b"])
    assert (error.side, error.index, error.id) == ("prediction", 1, None)
    error = refused(wer, predictions=["a", None], references=["a", "b"], ids=["x", "y"])
    assert (error.side, error.index, error.id) == ("prediction", None, "y")

    error = refused(wer, predictions=["\ud800"], references=["a"])
    assert (error.side, error.index) == ("prediction", 0)
    assert "surrogate" in str(error)

    error = refused(wer, predictions=["a"], references=["a", "b"])
    assert "1 prediction" in str(error) and "2 references" in str(error)
    error = refused(wer, predictions=["a"], references=["a"], profile="sacrebleu")
    assert error.option == "profile"
    assert str(error) == 'profile "sacrebleu": expected one of jiwer, torchmetrics, huggingface, wenet'
    error = refused(metric_suite.score, metric="wer", predictions=[], references=[], lang="java")
    assert "wer has no option lang" in str(error)
    error = refused(metric_suite.score, metric="zebra", predictions=[], references=[])
    assert "wer" in str(error)
    with pytest.raises(TypeError):
        metric_suite.wer(["a"], ["a"])
    error = refused(wer, predictions=[], references=[])
    assert "no records" in str(error)


def test_messages():
    """Each message as its reader sees it."""
    wer, nested = metric_suite.wer, []
    for _ in range(200):
        nested = [nested]
    one = {"predictions": ["a"], "references": ["a"]}
    values = "None, bool, int, float, str, list, tuple, dict or an array"
    rows = [
        (wer, {"predictions": "abc"}, "predictions: found one string: expected a sequence of values, such as a list of strings"),
        (wer, {"predictions": {"x": "a"}}, "predictions: found a mapping: expected a sequence of values (give ids as ids=list(x), values as list(x.values()))"),
        (wer, {"references": {"x": "a"}}, "references: found a mapping, but predictions are list: expected two mappings of ids to values, or two sequences"),
        (wer, {"predictions": {"a", "b"}}, "predictions: found a set, which has no order: expected a sequence of values, such as a list"),
        (wer, {"references": frozenset("a")}, "references: found a set, which has no order: expected a sequence of values, such as a list"),
        (wer, {"ids": {"a"}}, "ids: found a set, which has no order: expected a sequence of values, such as a list"),
        (wer, {"fields": {"w": {1}}}, "w: found a set, which has no order: expected a sequence of values, such as a list"),
        (wer, {"ids": [1, 2]}, "ids: 2 values and 1 reference: expected as many of each"),
        (wer, {"fields": {"room": []}}, "room: 0 values and 1 reference: expected as many of each"),
        (metric_suite.mrr, {"predictions": [[0.5]], "references": [0], "weights": [1, 2]}, "weights: 2 values and 1 reference: expected as many of each"),
        (wer, {"slice_field": 5}, "slice_field=5: expected a string, or a sequence of strings"),
        (wer, {"normalize": {"lower"}}, "normalize={'lower'}: expected a sequence (a set has no order)"),
        (wer, {"predictions": 5}, "predictions: found int: expected a sequence of values"),
        (wer, {"predictions": [object()]}, f"predictions[0]: found object: expected {values}"),
        (wer, {"predictions": ["\ud800"]}, "predictions[0]: the string has half of a surrogate pair, which is not a character"),
        (wer, {"predictions": [[float("nan")]]}, "predictions[0][0]: found NaN: expected a number"),
        (wer, {"predictions": [{"x": [1, {2}]}]}, f"predictions[0]['x'][1]: found set: expected {values}"),
        (wer, {"predictions": [nested]}, "predictions[0]: lists and dicts are nested more than 100 deep"),
        (wer, {"references": ["a", "b"]}, "1 prediction and 2 references: expected as many of each"),
        (wer, {"threads": "x"}, "threads='x': expected a positive integer"),
        (wer, {"threads": 0}, "threads=0: expected a positive integer"),
        (wer, {"resamples": "many"}, "resamples='many': expected a non-negative integer"),
        (wer, {"confidence": "high"}, "confidence='high': expected a number between 0 and 1"),
        (metric_suite.score, {"metric": "wer", "slice_bins": [1]}, "slice_bins=[1]: expected a dict of lists of numbers by field"),
        (metric_suite.score, {"metric": "wer", "slices": "x"}, "slices='x': expected a dict of dicts: by slice, the group of each id"),
        (metric_suite.detection, {"best_f1": "x"}, "best_f1='x': expected True or False"),
        (metric_suite.score, {"metric": "openlane", "k": 3}, "openlane has no option k: it has no options"),
        (metric_suite.score, {"metric": "wer", "k": 3}, "wer has no option k: its options are profile, unit, case_sensitive, extract, normalize, max_cells"),
    ]
    for function, arguments, message in rows:
        assert str(refused(function, **{**one, **arguments})) == message


def test_messages_count_from_0_as_the_attribute_does():
    """Without ids, a message has the position of the value in the list; with ids, its id."""
    wrong, right = [0, 1, 0.5], [0, 1, 1]
    problem = "expected a label, an integer or a string, found 0.5"
    error = refused(metric_suite.classification, predictions=wrong, references=right)
    assert (str(error), error.index) == (f"predictions[2]: {problem}", 2)
    error = refused(metric_suite.classification, predictions=right, references=numpy.array(wrong, dtype=object))
    assert (str(error), error.index, error.side) == (f"references[2]: {problem}", 2, "reference")
    error = refused(metric_suite.classification, predictions=wrong, references=right, ids=["a", "b", "3"])
    assert (str(error), error.index, error.id) == (f'predictions: id "3": {problem}', None, "3")
    error = refused(metric_suite.classification, predictions=dict(enumerate(wrong, 7)), references=dict(enumerate(right, 7)))
    assert (str(error), error.id) == (f'predictions: id "9": {problem}', "9")
    error = refused(metric_suite.wer, predictions={"x": "a", "y": float("nan")}, references={"x": "a", "y": "b"})
    assert str(error) == "predictions['y']: found NaN: expected a string"
    error = refused(metric_suite.wer, predictions=["a", float("nan")], references=["a", "b"])
    assert (str(error), error.index) == ("predictions[1]: found NaN: expected a string", 1)
    error = refused(metric_suite.mrr, predictions=[[0.5, float("nan")]], references=[0])
    assert str(error) == "predictions[0][1]: found NaN: expected a number"

    # So do warnings.
    asked = {"predictions": ["a", "b"], "references": [["a"] * 10, ["b"] * 3], "profile": "vqa-v2"}
    with pytest.warns(UserWarning, match=r"1 question has fewer than 10 answers.*: \[1\]$"):
        metric_suite.vqa(**asked)
    with pytest.warns(UserWarning, match='1 question has fewer than 10 answers.*: "y"$'):
        metric_suite.vqa(**asked, ids=["x", "y"])
    # Names of classes are not positions.
    with pytest.warns(UserWarning, match=': "3", "5"; '):
        metric_suite.classification(predictions=["7", "7"], references=["3", "5"])

    # The names of further columns, of systems and of states are those of the call.
    error = refused(metric_suite.wer, predictions=["a"], references=["a"], slice_field="room")
    assert str(error) == 'references[0]: no field "room", which slice_field names'
    # Text of the data is whole, whatever it says.
    fields = {"room": ["poem at line 3", "b at line 1 column 2"]}
    error = refused(metric_suite.score, metric="wer", predictions=["a", "b"], references=["a", "b"], fields=fields, slice_bins={"room": [1, 2]})
    assert 'found "poem at line 3": expected a number' in str(error)
    systems = {"old": ["a", 1], "new": ["a", "b"]}
    error = refused(metric_suite.compare, metric="wer", references=["a", "b"], predictions=systems)
    problem = 'expected a string, found a number: write it as "1", or take all values as they are written, with as_text'
    assert (str(error), error.index) == (f"predictions['old'][1]: {problem}", 1)
    error = refused(metric_suite.compare, metric="wer", references=["a", "b"], predictions=systems, ids=["x", "y"])
    assert str(error) == f"predictions['old']: id \"y\": {problem}"
    error = refused(metric_suite.compare, metric="wer", references=["a"], predictions=systems)
    assert str(error) == "predictions['old']: 2 predictions and 1 reference: expected as many of each"
    for policies in ({"missing": "error"}, {"missing": "empty"}, {"extra": "error"}):
        error = refused(metric_suite.compare, metric="wer", references=["a"], predictions=systems, **policies)
        assert str(error) == "predictions['old']: 2 predictions and 1 reference: expected as many of each"
    error = refused(metric_suite.compare, metric="wer", references=["a", "b"], predictions={"old": {"a", "b"}, "new": ["a", "b"]})
    assert str(error).startswith("predictions['old']: found a set")
    states = [metric_suite.WER().update(["a"], ["a"]), metric_suite.CER().update(["a"], ["a"])]
    assert str(refused(metric_suite.merge, states=states)) == "states[1]: is a state of cer: expected one of wer"
    assert str(refused(metric_suite.merge, states=[b"x"])).endswith("expected a file that to_bytes() wrote")


def test_arguments_that_messages_offer_exist():
    """`missing` and `extra` are arguments of each function, which its messages name."""
    predictions, references = {1: "x", 2: "y"}, {1: "x", 3: "q"}
    error = refused(metric_suite.exact_match, predictions=predictions, references=references)
    assert 'missing="empty"' in str(error) and 'extra="ignore"' in str(error)
    # One of two references is found exactly, and the prediction without a reference is left out.
    result = metric_suite.exact_match(predictions=predictions, references=references, missing="empty", extra="ignore")
    assert result["exact_match"] == 0.5
    result = metric_suite.ExactMatch(missing="skip", extra="ignore").update(predictions, references).compute()
    assert (result["exact_match"], result.missing) == (1.0, 1)
    error = refused(metric_suite.accuracy_at_k, predictions=[[1, 2]], references=[1], weights=[1.0])
    assert (str(error), error.option) == ('weights: expected only with input="scores"', "weights")


def test_ids():
    ids = ["b", "a"]
    result = metric_suite.wer(predictions=["x", "y"], references=["x", "z"], ids=ids, samples=True)
    assert result.samples["id"] == ids
    error = refused(metric_suite.wer, predictions=["x", "y"], references=["x", "z"], ids=["a", "a"])
    assert '"a"' in str(error)
    error = refused(metric_suite.wer, predictions=["x"], references=["x"], ids=["a", "b"])
    assert "ids" in str(error) or "id" in str(error)


def test_mappings_join_by_id():
    result = metric_suite.string_accuracy(predictions={"x": "a", "y": "b"}, references={"y": "b", "x": "c"})
    assert result["string_accuracy"] == 0.5
    error = refused(metric_suite.string_accuracy, predictions={"x": "a"}, references={"x": "a", "y": "b"})
    assert error.id == "y"


def test_rows_that_a_quote_swallowed_leave_the_id(tmp_path):
    (tmp_path / "r.tsv").write_text("id\treference\n1\ta\n2\tb\n3\tc\n")
    (tmp_path / "p.tsv").write_text('id\tprediction\n1\t"a\n2\tb"\n3\tc\n')
    error = refused(metric_suite.score_files, metric="wer", references=tmp_path / "r.tsv", predictions=tmp_path / "p.tsv")
    assert error.id == "2" and 'quote="none"' in str(error)


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=20))
def test_lists_and_arrow_agree(pairs):
    # Half of a surrogate pair is not a text.
    pairs = [[text.encode("utf-8", "replace").decode() for text in pair] for pair in pairs]
    predictions, references = map(list, zip(*pairs))
    one = metric_suite.cer(predictions=predictions, references=references)
    other = metric_suite.cer(predictions=pyarrow.array(predictions), references=polars.Series(references))
    assert one.to_json() == other.to_json()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 3))
def test_lists_and_arrays_agree(labels, threads):
    one = metric_suite.classification(predictions=labels, references=labels[::-1])
    arrays = [numpy.array(labels), numpy.array(labels[::-1])]
    other = metric_suite.classification(predictions=arrays[0], references=arrays[1], threads=threads)
    assert one.to_json() == other.to_json()


def test_lists_need_no_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import metric_suite
assert metric_suite.wer(predictions=["the cat"], references=["the cat sat"])["wer"] == 1 / 3
assert metric_suite.classification(predictions=[1, 2], references=[1, 1])["accuracy"] == 0.5
assert metric_suite.anls(predictions={"a": "x"}, references={"a": ["x"]})["anls"] == 1.0
assert "Word error rate" in metric_suite.report(metric_suite.WER().update(("a",), ("a",)).compute())
truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "x"}], "annotations": []}
assert metric_suite.coco(predictions=[], references=truth)["AP"] is None
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_columns_without_values_have_a_type():
    """A score that is undefined for all examples is a column of numbers, as it is where some have it."""
    # Under this profile, the error rate of an empty reference is undefined.
    options = {"profile": "huggingface", "samples": True}
    samples = metric_suite.wer(predictions=["x", "y"], references=["", ""], **options).samples
    assert samples["wer"] == [None, None]
    assert samples.to_arrow().schema.field("wer").type == pyarrow.float64()
    assert samples.to_arrow()["wer"].to_pylist() == [None, None]
    frame = samples.to_pandas()
    assert frame["wer"].dtype == "float64" and frame["wer"].isna().all()
    assert frame["hits"].dtype == "int64"
    assert list(frame["id"]) == samples["id"]
    defined = metric_suite.wer(predictions=["x", "y"], references=["", "y"], **options).samples
    assert defined.to_arrow().schema == samples.to_arrow().schema


@pytest.mark.parametrize("kind", ["boolean", "bool[pyarrow]", "object"])
def test_missing_values_of_pandas_are_defaults(kind):
    found = metric_suite.Boxes(image=[0], category=[1], box=[[0, 0, 9, 9]], score=[0.5])
    crowd = pandas.Series([pandas.NA, True], dtype=kind)
    boxes = [[0, 0, 9, 9], [20, 20, 9, 9]]
    truth = metric_suite.Boxes(image=[0, 0], category=[1, 1], box=boxes, crowd=crowd)
    # One of the objects counts, and it is found: the other is a crowd.
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0
