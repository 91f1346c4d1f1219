"""Data sets in memory: boxes in the forms of other packages, questions, submissions."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy
import pytest

import metric_suite
from metric_suite import Boxes, MetricError, _native

# The first object is found exactly, the second not at all.
TRUTH = Boxes(image=[0, 1], category=[7, 7], box=[[10, 10, 20, 20], [50, 50, 20, 20]])
FOUND = Boxes(image=[0], category=[7], box=[[10, 10, 20, 20]], score=[0.9])


def test_torchmetrics():
    truth = [
        {"boxes": numpy.array([[10.0, 10, 30, 30]]), "labels": numpy.array([7])},
        {"boxes": numpy.array([[50.0, 50, 70, 70]]), "labels": numpy.array([7])},
    ]
    found = [
        {"boxes": [[10.0, 10, 30, 30]], "labels": [7], "scores": [0.9]},
        {"boxes": numpy.zeros((0, 4)), "labels": numpy.zeros(0, dtype="int64"), "scores": numpy.zeros(0)},
    ]
    expected = metric_suite.coco(predictions=FOUND, references=TRUTH)
    assert expected["AR_100"] == 0.5
    assert dict(metric_suite.coco(predictions=found, references=truth)) == dict(expected)


def test_supervision():
    truth = [SimpleNamespace(xyxy=numpy.array([[10, 10, 30, 30]]), class_id=numpy.array([7]), confidence=None)]
    found = [SimpleNamespace(xyxy=numpy.array([[10, 10, 30, 30]]), class_id=numpy.array([7]), confidence=numpy.ones(1))]
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0


def test_pycocotools_object():
    dataset = {
        "images": [{"id": 1}],
        "categories": [{"id": 7, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}],
    }
    found = [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 9, 9], "score": 0.5}]
    result = metric_suite.coco(predictions=found, references=SimpleNamespace(dataset=dataset))
    assert result["AR_100"] == 1.0


def test_columns_that_do_not_fit():
    with pytest.raises(MetricError, match="class has 2 values: expected 1"):
        metric_suite.coco(predictions=FOUND, references=Boxes(image=[0], category=[7, 7], box=[[0, 0, 1, 1]]))
    with pytest.raises(MetricError, match="expected N by 4"):
        metric_suite.coco(predictions=FOUND, references=Boxes(image=[0], category=[7], box=[[0, 0, 1]]))


def test_squad():
    truth = {
        "version": "1.1",
        "data": [
            {
                "title": "t",
                "paragraphs": [
                    {
                        "context": "c",
                        "qas": [
                            {"id": "q1", "question": "?", "answers": [{"text": "The cat", "answer_start": 0}]},
                            {"id": "q2", "question": "?", "answers": [{"text": "dog", "answer_start": 0}]},
                        ],
                    }
                ],
            }
        ],
    }
    result = metric_suite.squad(predictions={"q1": "a cat", "q2": "emu"}, references=truth)
    # One of two answers is right after articles and capitals are removed.
    assert result["exact_match"] == pytest.approx(0.5)
    assert result["f1"] == pytest.approx(0.5)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_vqa():
    truth = {
        "annotations": [
            {"question_id": 1, "answers": [{"answer": "cat", "answer_id": place} for place in range(1, 11)]}
        ]
    }
    found = [{"question_id": 1, "answer": "cat"}]
    assert metric_suite.vqa(predictions=found, references=truth)["accuracy"] == 1.0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_arc_submission():
    truth = {"a": [[[1, 2]]], "b": [[[3]]]}
    found = {"a": [{"attempt_1": [[0]], "attempt_2": [[1, 2]]}], "b": [{"attempt_1": [[3]], "attempt_2": None}]}
    result = metric_suite.arc(predictions=found, references=truth)
    assert result["kaggle"] == 1.0


def coco_dicts():
    truth = {
        "images": [{"id": 1}, {"id": 9}],
        "categories": [{"id": 3, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": 0, "image_id": 1, "category_id": 3, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0},
            {"id": 5, "image_id": 9, "category_id": 2, "bbox": [0.5, 0, 60, 9.5], "area": 300.0, "iscrowd": 1},
            {"id": 6, "image_id": 9, "category_id": 3, "bbox": [50, 50, 9, 9], "area": 99, "iscrowd": 0},
        ],
    }
    found = [
        {"image_id": 1, "category_id": 3, "bbox": [0, 0, 9, 8], "score": 0.5},
        {"image_id": 9, "category_id": 3, "bbox": [50, 51, 9, 9], "score": 1},
        {"image_id": 9, "category_id": 2, "bbox": [1, 0, 6, 9], "score": 0.25},
    ]
    return truth, found


@pytest.mark.parametrize("options", [{}, {"quirks": "pycocotools"}, {"groups": "class"}, {"samples": True}])
def test_dicts_are_what_files_are(tmp_path, options):
    truth, found = coco_dicts()
    (tmp_path / "r.json").write_text(json.dumps(truth))
    (tmp_path / "p.json").write_text(json.dumps(found))
    expected = metric_suite.score_files("coco", tmp_path / "r.json", tmp_path / "p.json", **options)
    result = metric_suite.coco(predictions=found, references=truth, **options)
    assert result.to_json() == expected.to_json()
    assert metric_suite.COCO(**options).update(found, truth).to_bytes() == (
        metric_suite.COCO(**options).update_files(tmp_path / "r.json", tmp_path / "p.json").to_bytes()
    )
    # They are read without JSON between.
    assert _native.Scorer("coco", {}, {}).score_dicts(found, truth) is not None


@pytest.mark.parametrize(
    "side, change, problem",
    [
        (1, {"bbox": [0, 0, float("nan"), 1]}, "NaN"),
        (1, {"bbox": [0, 0, 1]}, "bbox"),
        (1, {"score": "high"}, "score"),
        (1, {"image_id": 77}, "77"),
    ],
)
def test_wrong_dicts(side, change, problem):
    truth, found = coco_dicts()
    (truth["annotations"] if side == 0 else found)[1].update(change)
    with pytest.raises(metric_suite.MetricError, match=problem):
        metric_suite.coco(predictions=found, references=truth)


def test_dicts_with_less_or_more():
    truth, found = coco_dicts()
    expected = metric_suite.coco(predictions=found, references=truth)
    for one in truth["annotations"]:
        one["segmentation"] = [[0, 0, 0, 9, 9, 9]]
        one["bbox"] = tuple(one["bbox"])
    assert dict(metric_suite.coco(predictions=found, references=truth)) == dict(expected)
