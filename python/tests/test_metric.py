"""Metrics that take batches: merging, copying, pickling, states, threads, memory."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metric_suite
from metric_suite import MetricError

PAIRS = [("the cat sat", "the cat sat"), ("a dog", "a big dog"), ("", "one"), ("x y", "y x")]


def whole():
    predictions, references = map(list, zip(*PAIRS))
    return metric_suite.wer(predictions=predictions, references=references)


@given(st.permutations(range(len(PAIRS))), st.integers(0, len(PAIRS)))
def test_any_division_and_order(order, cut):
    parts = [metric_suite.WER(), metric_suite.WER()]
    for part, places in zip(parts, [order[:cut], order[cut:]]):
        for place in places:
            part.update([PAIRS[place][0]], [PAIRS[place][1]])
    merged = parts[0] + parts[1]
    assert dict(merged.compute()) == dict(whole())
    assert merged.to_bytes() == metric_suite.merge([part.to_bytes() for part in reversed(parts)]).to_bytes()


def test_copies_are_apart():
    metric = metric_suite.WER().update(["a"], ["b"])
    for other in (metric.copy(), copy.copy(metric), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert type(other) is metric_suite.WER
        assert other == metric
        other.update(["a"], ["a"])
        assert other != metric
        assert other.compute()["wer"] == 0.5
    assert metric.compute()["wer"] == 1.0
    assert metric.reset().compute().examples == 0


def test_an_update_is_all_or_nothing():
    metric = metric_suite.WER(samples=True).update(["a"], ["b"])
    before = metric.to_bytes()
    with pytest.raises(MetricError):
        metric.update(["a", 1], ["a", "b"])
    assert metric.to_bytes() == before
    assert len(metric.compute().samples["id"]) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_options_survive():
    metric = metric_suite.CodeBLEU(lang="java", weights=[0.1, 0.2, 0.3, 0.4]).update(["int x;"], ["int x;"])
    other = metric_suite.Metric.from_bytes(metric.to_bytes())
    assert type(other) is metric_suite.CodeBLEU
    assert other.signature == metric.signature
    assert other.update(["int y;"], ["int x;"]).compute().examples == 2
    with pytest.raises(MetricError, match="lang|options|definition"):
        metric.merge(metric_suite.CodeBLEU(lang="python").update(["x = 1"], ["x = 1"]))


def test_a_call_scores_its_batch():
    metric = metric_suite.Metric("string-accuracy")
    assert metric(["a"], ["a"])["string_accuracy"] == 1.0
    assert metric(["a"], ["b"])["string_accuracy"] == 0.0
    assert metric.compute()["string_accuracy"] == 0.5


def test_states_are_those_of_files(tmp_path):
    paths = [tmp_path / name for name in ("references.jsonl", "predictions.jsonl")]
    for path, place, field in zip(paths, (1, 0), ("reference", "prediction")):
        lines = (json.dumps({"id": number, field: pair[place]}) for number, pair in enumerate(PAIRS, 1))
        path.write_text("\n".join(lines))
    by_file = metric_suite.WER().update_files(*paths)
    predictions, references = map(list, zip(*PAIRS))
    assert by_file == metric_suite.WER().update(predictions, references)
    assert metric_suite.score_files("wer", *paths).to_json() == whole().to_json()


def test_damaged_states_are_refused():
    state = bytearray(metric_suite.WER().update(["a"], ["b"]).to_bytes())
    state[-1] ^= 1
    with pytest.raises(MetricError):
        metric_suite.Metric.from_bytes(bytes(state))
    with pytest.raises(MetricError):
        metric_suite.merge([])


def test_threads():
    predictions, references = map(list, zip(*(PAIRS * 500)))
    expected = metric_suite.wer(predictions=predictions, references=references, threads=1).to_json()
    found = []

    def work():
        found.append(metric_suite.wer(predictions=predictions, references=references, threads=2).to_json())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_memory_does_not_grow():
    def call():
        metric_suite.wer(predictions=["a b"], references=["a c"])

    call()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        call()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000


def test_results():
    with pytest.warns(UserWarning, match="fewer than 30"):
        result = metric_suite.wer(predictions=["<b>"] * 20, references=["a"] * 10 + ["<b>"] * 10, confidence=0.9)
    assert list(result)[0] == "wer"
    assert float(result) == result["wer"] == 0.5
    interval = result.intervals["wer"]
    assert interval.low < 0.5 < interval.high
    assert result.statistics["resamples"] == 2000
    assert "90% interval" in repr(result)
    assert result.to_markdown().startswith("| score | value | 90% interval |")
    assert r"wer\_mean" in result.to_latex()
    assert "<table>" in result._repr_html_() and "<script" not in result._repr_html_()
    assert json.loads(result.to_json()) == result.to_dict()


def test_slices_and_checks():
    result = metric_suite.string_accuracy(
        predictions=["a", "b", "c"],
        references=["a", "x", "c"],
        fields={"room": ["quiet", "street", "street"]},
        slice_field="room",
    )
    assert result.groups["room"]["street"]["string_accuracy"] == 0.5
    assert metric_suite.check(result, string_accuracy=0.5) == []
    assert metric_suite.check(result, string_accuracy=0.9) == [
        "string_accuracy is 0.6666666666666666: expected at least 0.9"
    ]
    assert metric_suite.check(whole(), wer=0.1)[0].endswith("expected at most 0.1")


def test_comparison():
    references = [f"word {number}" for number in range(100)]
    better = references[:90] + ["wrong"] * 10
    worse = references[:40] + ["wrong"] * 60
    found = metric_suite.compare("string-accuracy", references=references, predictions={"a": better, "b": worse})
    (difference,) = found["comparisons"]
    assert difference["delta"] == pytest.approx(-0.5)
    assert difference["p"] < 0.001


def test_missing_files():
    with pytest.raises(FileNotFoundError):
        metric_suite.score_files("wer", "none.jsonl", "none.jsonl")


def test_boxes_in_memory():
    truth = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 7, "name": "cat"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 7, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0}
        ],
    }
    found = [{"image_id": 1, "category_id": 7, "bbox": [10, 10, 20, 10], "score": 0.9}]
    expected = metric_suite.coco(predictions=found, references=truth)
    # The box covers half of the object, so it counts at the threshold 0.5 of ten.
    assert expected["AP50"] == pytest.approx(1.0)
    assert expected["AP"] == pytest.approx(0.1)
    columns = metric_suite.coco(
        predictions=metric_suite.Boxes(image=[1], category=[7], box=[[10, 10, 20, 10]], score=[0.9]),
        references=metric_suite.Boxes(image=[1], category=[7], box=[[10, 10, 20, 20]]),
    )
    assert dict(columns) == dict(expected)


@pytest.mark.parametrize("name", [metric.name for metric in metric_suite.metrics()])
def test_nothing_has_no_score(name):
    """A score of no examples is undefined, not 0 or 1."""
    options = {"codebleu": {"lang": "java"}, "segmentation": {"classes": 2}}.get(name, {})
    nothing = metric_suite.Metric(name, **options)
    merged = metric_suite.merge([nothing.to_bytes()]) + nothing
    for metric in (nothing, nothing.copy(), pickle.loads(pickle.dumps(nothing)), merged):
        result = metric.compute()
        assert set(result.values()) == {None} and result.examples == 0 and result.warnings == []
        assert set(result.to_dict()["scores"].values()) == {None}
    if name in ("wer", "cer"):
        nothing.update(["a"], ["b"]).reset()
        assert set(nothing.compute().values()) == {None}


def test_names_that_a_result_lacks():
    result = metric_suite.classification(predictions=[1, 1], references=[1, 0], groups="class", samples=True)
    rows = [
        (result, "f1_macro", "no score 'f1_macro': expected one of accuracy, precision, recall"),
        (result.counts, "tp", "no count 'tp': expected one of "),
        (result.groups, "label", "no kind of group 'label': expected one of class"),
        (result.groups["class"], "2", "no group of class '2': expected one of 0, 1"),
        (result.groups["class"]["1"], "wer", "no score 'wer': expected one of "),
        (result.intervals, "f1", "no interval of 'f1': there are none"),
        (result.samples, "wer", "no column 'wer': expected one of id"),
    ]
    for names, name, message in rows:
        with pytest.raises(KeyError) as caught:
            names[name]
        assert message in caught.value.args[0]
        assert name not in names and names.get(name) is None
    # Long lists of names are cut.
    many = metric_suite.classification(predictions=list(range(99)), references=list(range(99)), groups="class")
    with pytest.raises(KeyError) as caught:
        many.groups["class"]["x"]
    assert len(caught.value.args[0]) < 300 and caught.value.args[0].endswith(", ...")
    again = pickle.loads(pickle.dumps(result.groups["class"]))
    assert again == result.groups["class"] and list(again) == ["0", "1"]


def test_further_references_in_files(tmp_path):
    texts = {"r1": "the cat sat on the mat\nit rained all day\n", "r2": "a cat sat on the mat\nit was raining\n", "p": "a cat sat on the mat\nit rained all day\n"}
    paths = {name: tmp_path / f"{name}.txt" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    result = metric_suite.score_files("bleu", paths["r1"], paths["p"], more_references=[paths["r2"]])
    # All n-grams of the predictions are in one of the two references.
    assert result.counts["correct"] == [10, 8, 6, 4]
    assert "|nrefs:2|" in result.signature
    assert metric_suite.score_files("bleu", paths["r1"], paths["p"], more_references=paths["r2"]).to_json() == result.to_json()
    metric = metric_suite.BLEU().update_files(paths["r1"], paths["p"], more_references=[paths["r2"]])
    assert metric.compute()["bleu"] == result["bleu"]
    # Another batch has no further references, unless they are given again.
    assert metric.update_files(paths["r1"], paths["p"]).compute().counts["correct"] == [19, 15, 11, 7]
    assert "|nrefs:var|" in metric.compute().signature
    compared = metric_suite.compare("bleu", references=paths["r1"], predictions={"a": paths["r1"], "b": paths["p"]}, more_references=paths["r2"])
    assert compared["systems"][1]["scores"]["bleu"] == result["bleu"]


def test_further_references_that_are_not_used(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("a\n")
    with pytest.raises(FileNotFoundError):
        metric_suite.score_files("bleu", path, path, more_references=[tmp_path / "none.txt"])
    with pytest.raises(MetricError, match="more_references.*wer compares with one reference per record"):
        metric_suite.score_files("wer", path, path, more_references=[path])
    both = tmp_path / "both.jsonl"
    both.write_text('{"id": 1, "reference": "a", "prediction": "a"}\n')
    with pytest.raises(MetricError, match="more_references.*expected two files of records"):
        metric_suite.score_files("bleu", both, more_references=[path])


def test_few_short_texts_have_the_scores_of_rouge():
    # 2 of 3 words are in the reference, which has 4.
    result = metric_suite.rouge(predictions=["the cat ran"], references=["the cat was running"])
    assert result["rouge1"] == pytest.approx(4 / 7) and result["rouge1_precision"] == 2 / 3 and result["rouge1_recall"] == 2 / 4
    one = metric_suite.rouge(predictions=["the cat ran"], references=["the cat was running"], types=["2"])
    # 1 of 2 pairs, and 1 of 3.
    assert dict(one) == {"rouge2": pytest.approx(0.4), "rouge2_precision": 1 / 2, "rouge2_recall": 1 / 3}


def test_few_short_texts_have_the_warnings_of_bleu():
    with pytest.warns(UserWarning, match="no prediction has 3 tokens"):
        result = metric_suite.bleu(predictions=["a cat"], references=["a cat"])
    assert result["bleu"] == 0


def test_where_selects_examples_by_fields() -> None:
    data = {"predictions": ["a", "x", "c"], "references": ["a", "b", "c"]}
    fields = {"subject": ["law", "law", "art"], "level": [1, 2, 3]}
    result = metric_suite.exact_match(**data, fields=fields, where="subject=law")
    assert result["exact_match"] == 0.5
    assert "|where:subject=law|" in result.signature
    both = metric_suite.exact_match(**data, fields=fields, where=["subject=law", "subject=art", "level!=2"])
    assert both["exact_match"] == 1.0
    with pytest.raises(MetricError, match="did you mean"):
        metric_suite.exact_match(**data, fields=fields, where="subjekt=law")
    with pytest.raises(MetricError, match="none of the records is selected"):
        metric_suite.exact_match(**data, fields=fields, where="subject=physics")


def test_where_joins_by_id() -> None:
    result = metric_suite.exact_match(
        predictions=["x", "y"], references=["x", "z"], ids=["a", "b"], fields={"part": ["one", "two"]}, where="part=one"
    )
    assert (result.examples, result["exact_match"]) == (1, 1.0)


def test_scores_are_chosen_in_their_order() -> None:
    data = {"predictions": ["a x", "b"], "references": ["a b", "b"]}
    result = metric_suite.wer(**data, scores=["mer", "wer"], fields={"of": ["ann", "bob"]}, slice_field="of", sort="wer")
    assert list(result.items()) == [("mer", 1 / 3), ("wer", 1 / 3)]
    assert list(result.groups["of"]) == ["bob", "ann"]
    assert list(metric_suite.wer(**data, scores="wip")) == ["wip"]
    with pytest.raises(MetricError, match="no such score"):
        metric_suite.wer(**data, scores="f1")


def test_grades_have_no_references() -> None:
    result = metric_suite.mean(predictions=[True, 0.5, 3], confidence=0.9, resamples=50)
    assert dict(result) == {"mean": 1.5}
    low, high = result.intervals["mean"].low, result.intervals["mean"].high
    assert low is None or 0.5 <= low <= 1.5 <= high


def test_null_and_numbers_as_text() -> None:
    data = {"predictions": ["a", None], "references": ["a", "b"]}
    with pytest.raises(MetricError):
        metric_suite.exact_match(**data)
    with pytest.warns(UserWarning, match="1 prediction is null and was scored as empty"):
        assert metric_suite.exact_match(**data, missing="empty")["exact_match"] == 0.5
    with pytest.warns(UserWarning, match="left out"):
        assert metric_suite.exact_match(**data, null="skip")["exact_match"] == 1.0
    numbers = {"predictions": [3, 7], "references": ["3", "8"]}
    assert metric_suite.exact_match(**numbers, as_text=True)["exact_match"] == 0.5
