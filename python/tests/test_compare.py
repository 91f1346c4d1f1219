"""Comparisons take what the functions of metrics take, and are shown as tables."""

from __future__ import annotations

import json
import pickle

import numpy
import pandas
import polars
import pyarrow
import pytest

import metric_suite
from metric_suite import Boxes, MetricError, compare

WORDS = ["a b"] * 8
SYSTEMS = {"old": ["a c"] * 4 + ["a b"] * 4, "new": ["a b"] * 8}
# A box of width 6 in one of width 10 has IoU 0.6, which reaches 3 of 10 thresholds.
TRUTH = {
    "images": [{"id": 1}, {"id": 2}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [
        {"id": image, "image_id": image, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0} for image in (1, 2)
    ],
}


def dicts(width: float) -> list[dict]:
    return [{"image_id": image, "category_id": 1, "bbox": [0, 0, width, 10], "score": 0.9} for image in (1, 2)]


def boxes(width: float, **more) -> Boxes:
    return Boxes(image=[1, 2], category=[1, 1], box=[[0, 0, width, 10]] * 2, **more)


def per_image(width: float, **more) -> list[dict]:
    return [{"boxes": numpy.array([[0.0, 0, width, 10]]), "labels": numpy.array([1]), **more} for _ in (1, 2)]


def delta(found, score: str) -> float:
    (row,) = [row for row in found["comparisons"] if row["score"] == score]
    return row["delta"]


SCORE = {"scores": numpy.array([0.9])}


@pytest.mark.parametrize(
    "references, old, new",
    [
        (TRUTH, dicts(6), dicts(10)),
        (boxes(10), boxes(6, score=[0.9] * 2), boxes(10, score=[0.9] * 2)),
        (per_image(10), per_image(6, **SCORE), per_image(10, **SCORE)),
    ],
    ids=["coco", "boxes", "torchmetrics"],
)
def test_detections(references, old, new):
    found = compare("coco", references=references, predictions={"old": old, "new": new}, resamples=100)
    assert delta(found, "AP") == pytest.approx(0.7)
    assert [system["scores"]["AP"] for system in found["systems"]] == pytest.approx([0.3, 1.0])


def test_a_path_and_values(tmp_path):
    (tmp_path / "truth.json").write_text(json.dumps(TRUTH))
    (tmp_path / "old.json").write_text(json.dumps(dicts(6)))
    found = compare("coco", references=tmp_path / "truth.json", predictions={"old": str(tmp_path / "old.json"), "new": dicts(10)}, resamples=100)
    assert delta(found, "AP") == pytest.approx(0.7)
    (tmp_path / "truth.txt").write_text("a b\n" * 8)
    found = compare("wer", references=tmp_path / "truth.txt", predictions=SYSTEMS)
    assert delta(found, "wer") == -0.25


def test_rows_of_squad():
    truth = [{"id": str(row), "answers": {"text": ["cat"], "answer_start": [0]}} for row in range(4)]
    systems = {text: [{"id": str(row), "prediction_text": text} for row in range(4)] for text in ("dog", "cat")}
    assert delta(compare("squad", references=truth, predictions=systems), "f1") == 1.0


def test_samples_without_references():
    # Half of the samples pass, then all.
    systems = {"old": [[True, False]] * 10, "new": [[True, True]] * 10}
    found = compare("pass_at_k", predictions=systems, k=[1])
    assert delta(found, "pass@1") == 0.5
    with pytest.raises(MetricError, match="has none"):
        compare("pass-at-k", predictions=systems, references=[1] * 10)


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_frames(kind):
    columns = {"truth": ["x"] * 8, "old": ["x", "y"] * 4, "new": ["x"] * 8, "topic": ["law", "art"] * 4}
    systems, fields = kind({name: columns[name] for name in ("old", "new")}), kind({"topic": columns["topic"]})
    truth = kind(columns)["truth"]
    found = compare("exact-match", references=truth, predictions=systems, fields=fields, slice_field="topic", cluster_field="topic")
    assert delta(found, "exact_match") == 0.5 and found["clusters"] == 2
    assert {group: delta(body, "exact_match") for group, body in found["groups"]["topic"].items()} == {"art": 1.0, "law": 0.0}


def test_values_are_compared_as_files_are(tmp_path):
    rows = [(f"{row}", words) for row, words in enumerate(WORDS)]

    def written(name: str, field: str, values: list[str]) -> str:
        lines = [json.dumps({"id": id, field: value}) for (id, _), value in zip(rows, values)]
        (tmp_path / name).write_text("\n".join(lines))
        return str(tmp_path / name)

    paths = [written(f"{name}.jsonl", "prediction", values) for name, values in SYSTEMS.items()]
    of_files = compare("wer", references=written("truth.jsonl", "reference", WORDS), predictions=paths, resamples=100)
    of_values = compare("wer", references=WORDS, predictions=SYSTEMS, ids=[id for id, _ in rows], resamples=100)
    assert [system["name"] for system in of_files["systems"]] == ["old", "new"]
    for system, name in zip(of_files["systems"], SYSTEMS):
        system["predictions"] = f"predictions[{name!r}]"
    assert of_values == of_files


def test_missing_predictions_are_left_out_of_all():
    truth = dict.fromkeys(range(20), "a")
    systems = {"right": dict.fromkeys(range(10), "a"), "wrong": dict.fromkeys(range(5, 20), "b")}
    found = compare("exact-match", references=truth, predictions=systems, missing="skip")
    assert (found["examples"], delta(found, "exact_match")) == (5, -1.0)
    assert [system["missing"] for system in found["systems"]] == [10, 5]
    # Of 20 references, 10 are found, and none.
    assert delta(compare("exact-match", references=truth, predictions=systems, missing="empty"), "exact_match") == -0.5


def test_names():
    systems = {"my_old": ["a", "a"], "my-new": ["a", "b"]}
    found = compare("exact_match", references=["a", "b"], predictions=systems, baseline="my_new")
    assert (found["comparisons"][0]["baseline"], delta(found, "exact_match")) == ("my-new", -0.5)
    columns = [pandas.Series(values, name=name) for name, values in systems.items()]
    assert [system["name"] for system in compare("exact-match", references=["a", "b"], predictions=columns)["systems"]] == list(systems)
    plain = compare("exact-match", references=["a", "b"], predictions=list(systems.values()))
    assert [system["name"] for system in plain["systems"]] == ["system 1", "system 2"]
    assert metric_suite.score("exact_match", predictions=["a"], references=["a"]) == metric_suite.Metric("exact_match")(["a"], ["a"])


def test_iterators_are_read_once():
    systems = {name: iter(values) for name, values in SYSTEMS.items()}
    assert delta(compare("wer", references=iter(WORDS), predictions=systems, ids=iter("abcdefgh")), "wer") == -0.25


def test_weights():
    given = {"references": [1.0, 2.0], "predictions": {"old": [1.0, 4.0], "new": [3.0, 2.0]}}
    # Errors of 2, once with a fourth of the weight and once with the rest.
    assert delta(compare("regression", **given, weights=[1, 3]), "mae") == 0.5 - 1.5
    assert delta(compare("regression", **given, sample_weight=[1, 3]), "mae") == 0.5 - 1.5


@pytest.mark.parametrize(
    "metric, references, predictions, problem",
    [
        ("classification", [0, 1], numpy.array([[0, 1], [1, 1]]), "found ndarray: expected a mapping"),
        ("classification", [0, 1], [0, 1], "found a list of int: expected a mapping"),
        ("wer", ["a"], ["b"], "found a list of str: expected a mapping"),
        ("wer", ["a"], "b", "found one string"),
        ("wer", ["a"], {"b"}, "found a set"),
        ("coco", TRUTH, dicts(6), "found a list of dict: expected a mapping"),
        ("wer", ["a"], {1: ["a"], "1": ["b"]}, "two systems have the same name"),
        ("detection", per_image(10), per_image(6, **SCORE), "found a list of dict: expected a mapping"),
        ("wer", ["a"], {"x": ["a"]}, "1 system to compare"),
        ("wer", ["a"], {"x": ["a"], "y": [1]}, r"^predictions\['y'\]\[0\]: expected a string"),
        ("wer", ["a"], {"x": ["a", "b"], "y": ["b"]}, r"^predictions\['x'\]: 2 predictions and 1 reference"),
        ("wer", [1], {"x": ["a"], "y": ["b"]}, r"^references\[0\]: expected a string"),
    ],
)
def test_errors(metric, references, predictions, problem):
    with pytest.raises(MetricError, match=problem):
        compare(metric, references=references, predictions=predictions)


def test_tables():
    fields = {"room": ["quiet", "street"] * 4}
    found = compare("wer", references=WORDS, predictions=SYSTEMS, fields=fields, slice_field="room")
    for text in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        for part in ("old (baseline)", "wer", "-0.2500", "quiet", "street", "4 / 4 / 0"):
            assert part in text, part
    frame = found.to_pandas()
    assert set(frame["score"]) == {"wer", "mer", "wil", "wip", "wer_mean"} and len(frame) == 3 * 5
    whole = frame[frame["kind"].isna() & (frame["score"] == "wer")].iloc[0]
    assert (whole["baseline_value"], whole["value"], whole["delta"], whole["wins"]) == (0.25, 0.0, -0.25, 4)
    assert set(frame["group"].dropna()) == {"quiet", "street"}
    assert found.to_polars().columns == list(frame.columns)
    assert "kind" not in compare("wer", references=WORDS, predictions=SYSTEMS).to_pandas()


def test_tables_of_several_pairs():
    systems = {name: ["a b"] * count + ["a c"] * (8 - count) for name, count in (("x", 8), ("y", 4), ("z", 0))}
    found = compare("wer", references=WORDS, predictions=systems, all_pairs=True)
    rows = [line.split("|") for line in found.to_markdown().splitlines() if line.startswith("| wer |")]
    assert [[cell.strip() for cell in row[2:7]] for row in rows] == [
        ["x", "0.0000", "y", "0.2500", "+0.2500"],
        ["x", "0.0000", "z", "0.5000", "+0.5000"],
        ["y", "0.2500", "z", "0.5000", "+0.2500"],
    ]
    assert "p (Holm)" in str(found)


def test_a_comparison_is_a_dict():
    found = compare("wer", references=WORDS, predictions={"<b>": SYSTEMS["old"], "a|b\nc": SYSTEMS["new"]})
    assert isinstance(found, dict) and json.loads(found.to_json()) == found == json.loads(json.dumps(found))
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy) is metric_suite.Comparison and copy == found
    assert "<b>" not in found._repr_html_()
    assert r"a\|b c" in found.to_markdown()
    assert "difference" in metric_suite.report(found, format="markdown").lower()
