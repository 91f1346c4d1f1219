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
    with pytest.raises(MetricError, match="references: category has 2 values: expected 1"):
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


def image(*corners, **more):
    """The dict of one image in the form of torchmetrics, with objects of the class 1."""
    return {"boxes": numpy.array(corners, float).reshape(-1, 4), "labels": numpy.ones(len(corners), int), **more}


def detections(*corners, confidence=None, **data):
    """The same in the form of supervision, whose further fields are in `data`."""
    arrays = {name: numpy.array(values) for name, values in data.items()}
    found = image(*corners)
    return SimpleNamespace(xyxy=found["boxes"], class_id=found["labels"], confidence=confidence, data=arrays)


def test_crowds_that_some_images_lack():
    """An image without the flag has no crowds, and the crowds of others stay crowds: detections in them do not count."""
    inside, outside = [110, 30, 150, 60], [10, 10, 60, 40]
    crowd = [100, 20, 220, 140]
    for flags in (numpy.array([0, 1]), [0, 1], numpy.array([False, True]), [0, 1.0]):
        truth = [image(outside, crowd, iscrowd=flags), image(outside)]
        found = [image(outside, inside, scores=[0.6, 0.9]), image(outside, scores=[0.8])]
        result = metric_suite.coco(predictions=found, references=truth)
        assert (result["AP"], result["AR_100"]) == (pytest.approx(1.0), 1.0)
    truth = [detections(outside, crowd, iscrowd=[0, 1]), detections(outside)]
    found = [detections(outside, inside, confidence=numpy.array([0.6, 0.9])), detections(outside, confidence=numpy.ones(1))]
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0


def test_ignored_objects_that_some_images_lack():
    """An object that is to be ignored need not be found; one without the flag must be."""
    truth = [image([0, 0, 9, 9], ignore=[1]), image([0, 0, 9, 9])]
    found = [image(scores=[]), image([0, 0, 9, 9], scores=[0.5])]
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0
    truth = Boxes(image=[0, 1], category=[1, 1], box=[[0, 0, 9, 9]] * 2, ignore=[1, None])
    found = Boxes(image=[1], category=[1], box=[[0, 0, 9, 9]], score=[0.5])
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0


def ranges(truth, found):
    result = metric_suite.coco(predictions=found, references=truth)
    return [None if result[name] is None else round(result[name], 9) for name in ("AP_small", "AP_medium", "AP_large")]


def test_areas_that_some_objects_lack():
    """Boxes of 10,000 and 1,600 pixels; the first object covers 8,000 of its box, which is medium and not large."""
    large, small = [10, 10, 110, 110], [20, 20, 60, 60]
    found = [image(large, scores=[0.6]), image(small, scores=[0.8])]
    # Not given, given as unknown (0 in torchmetrics), and given as missing.
    for area in ({}, {"area": [0.0]}, {"area": [None]}, {"area": numpy.array([numpy.nan])}):
        assert ranges([image(large, area=[8000.0]), image(small, **area)], found) == [None, 1.0, None]
        # Without the area of the first object, it is that of its box.
        assert ranges([image(large), image(small, **area)], found) == [None, 1.0, 1.0]
    both = [image(large, small, area=[8000.0, 0.0])]
    assert ranges(both, [image(large, small, scores=[0.6, 0.8])]) == [None, 1.0, None]
    truth = [detections(large, area=[8000.0]), detections(small)]
    assert ranges(truth, [detections(large, confidence=[0.6]), detections(small, confidence=[0.8])]) == [None, 1.0, None]
    columns = {"image": [0, 1], "category": [1, 1], "box": [[10, 10, 100, 100], [20, 20, 40, 40]]}
    found = Boxes(**columns, score=[0.6, 0.8])
    assert ranges(Boxes(**columns, area=[8000, None]), found) == [None, 1.0, None]
    # The area of a column is what it says.
    assert ranges(Boxes(**columns, area=[8000, 0]), found) == [1.0, 1.0, None]


def masked(*rows, **more):
    """The masks of one image, each a rectangle of left, top, right and bottom in 60 by 50 pixels."""
    masks = numpy.zeros((len(rows), 50, 60), bool)
    for mask, (left, top, right, bottom) in zip(masks, rows):
        mask[top:bottom, left:right] = True
    return {"masks": masks, "labels": numpy.ones(len(rows), int), **more}


def test_masks_of_images():
    """As for boxes: the flags and areas that an image lacks are not those of others."""
    inside, outside, crowd = [30, 5, 40, 15], [0, 0, 20, 40], [25, 0, 60, 50]
    truth = [masked(outside, crowd, iscrowd=[0, 1]), masked(outside), masked()]
    found = [masked(outside, inside, scores=[0.6, 0.9]), masked(outside, scores=[0.8]), masked(scores=[])]
    result = metric_suite.coco(predictions=found, references=truth, iou_type="segm")
    assert result["AR_100"] == 1.0
    # 20 by 40 pixels are small, which an area of 2,000 would not be.
    assert result["AP_small"] == pytest.approx(1.0) and result["AP_medium"] is None
    truth = [masked(outside, area=[2000.0]), masked(outside), masked()]
    result = metric_suite.coco(predictions=[found[1], found[1], found[2]], references=truth, iou_type="segm")
    assert result["AR_small"] == result["AR_medium"] == 1.0
    objects = [SimpleNamespace(xyxy=numpy.zeros((1, 4)), mask=masked(outside)["masks"], class_id=[1], confidence=[0.5], data={})]
    nothing = SimpleNamespace(xyxy=numpy.zeros((0, 4)), mask=None, class_id=None, confidence=None, data={})
    result = metric_suite.coco(predictions=[*objects, nothing], references=[*objects, nothing], iou_type="segm")
    assert result["AR_100"] == 1.0
    # Half of the mask is found.
    half = [masked([0, 0, 20, 20], scores=[0.5])]
    assert metric_suite.coco(predictions=half, references=[masked(outside)], iou_type="segm")["AP50"] == pytest.approx(1.0)
    assert metric_suite.coco(predictions=half, references=[masked(outside)], iou_type="segm")["AP75"] == 0.0
    for predictions, problem in (
        ([image(outside, scores=[0.5])], r"predictions\[0\]: no masks: expected masks, labels and scores"),
        ([{**half[0], "masks": half[0]["masks"][:, ::2, ::2]}], r"predictions\[0\]: masks of 25 by 30 pixels: expected 50 by 60"),
        ([{**half[0], "masks": numpy.zeros((1, 4))}], r"predictions\[0\]: masks: found an array of shape \(1, 4\)"),
        (Boxes(image=[0], category=[1], box=[outside], score=[0.5]), "predictions: Boxes have no masks"),
    ):
        with pytest.raises(MetricError, match=problem):
            metric_suite.coco(predictions=predictions, references=[masked(outside)], iou_type="segm")


def test_scores_that_are_not_numbers():
    nan = float("nan")
    truth = [image([0, 0, 9, 9]), image([0, 0, 9, 9])]
    for scores in ([nan], numpy.array([nan]), numpy.array([nan], "float32"), [None]):
        found = [image([0, 0, 9, 9], scores=[0.5]), image([0, 0, 9, 9], scores=scores)]
        for function in (metric_suite.coco, metric_suite.voc, metric_suite.tide, metric_suite.detection):
            with pytest.raises(MetricError, match=r"predictions\[1\]: scores\[0\]: found NaN") as caught:
                function(predictions=found, references=truth)
            assert (caught.value.index, caught.value.side) == (1, "prediction")
    columns = {"image": [0, 1], "category": [1, 1], "box": [[0, 0, 9, 9]] * 2}
    with pytest.raises(MetricError, match=r"predictions: score\[1\]: found NaN") as caught:
        metric_suite.coco(predictions=Boxes(**columns, score=[0.5, nan]), references=Boxes(**columns))
    assert caught.value.index == 1
    found = [{"image_id": 0, "category_id": 1, "bbox": [0, 0, 9, 9], "score": nan}]
    dataset = {"images": [{"id": 0}], "categories": [{"id": 1, "name": "a"}], "annotations": []}
    with pytest.raises(MetricError, match=r"predictions\[0\]\['score'\]: found NaN"):
        metric_suite.coco(predictions=found, references=dataset)


def test_images_without_predictions():
    """One entry per image on both sides: a shorter list is not one of images without detections."""
    truth, found = [image([0, 0, 9, 9])] * 5, [image([0, 0, 9, 9], scores=[0.9])] * 5
    for predictions, problem in ((found[:4], "4 predictions and 5 references"), ([], "0 predictions and 5 references"), (found + found[:1], "6 predictions")):
        with pytest.raises(MetricError, match=problem):
            metric_suite.coco(predictions=predictions, references=truth)
    assert metric_suite.coco(predictions=found[:4] + [image(scores=[])], references=truth)["AR_100"] == 0.8


@pytest.mark.parametrize("name", ["coco", "voc", "tide", "confusion_matrix", "detection"])
def test_dicts_that_lack_a_key(name):
    function, box = getattr(metric_suite, name), [0, 0, 9, 9]
    good = {"predictions": [image(box, scores=[0.9])], "references": [image(box)]}
    rows = [
        ({"predictions": [{"boxes": [box], "scores": [0.9]}]}, r"predictions\[0\]: no labels: expected boxes, labels and scores"),
        ({"predictions": [image(box)]}, r"predictions\[0\]: no scores: expected boxes, labels and scores"),
        ({"references": [{"boxes": [box]}]}, r"references\[0\]: no labels: expected boxes and labels"),
        ({"predictions": [image(box, scores=[0.9, 0.8])]}, r"predictions\[0\]: 1 boxes and 2 scores: expected as many of each"),
        ({"references": [image(box, iscrowd=[0, 1])]}, r"references\[0\]: 1 boxes and 2 iscrowd"),
        ({"references": [image(box, area=[])]}, r"references\[0\]: 1 boxes and 0 area"),
        ({"references": [{"boxes": [[0, 0, 9]], "labels": [1]}]}, r"references\[0\]: boxes: found an array of shape \(1, 3\)"),
        ({"references": [{"boxes": [box, [0]], "labels": [1, 1]}]}, r"references\[0\]: boxes: found values of different shapes"),
        ({"references": [{"boxes": [["a"] * 4], "labels": [1]}]}, r"references\[0\]: boxes: expected numbers"),
        ({"references": [{"boxes": [box], "labels": [[1]]}]}, r"references\[0\]: labels: found an array of shape \(1, 1\)"),
        ({"predictions": [image(box, scores=[[0.9]])]}, r"predictions\[0\]: scores: found an array of shape \(1, 1\): expected N values"),
        ({"references": [image(box, area=[[81]])]}, r"references\[0\]: area: found an array of shape \(1, 1\)"),
        ({"references": [{"boxes": [box], "labels": [1.5]}]}, r"references\[0\]: labels\[0\]: found 1.5: expected an integer or a string"),
        ({"references": [{"boxes": [box], "labels": {1}}]}, r"references\[0\]: labels: found a set"),
        ({"predictions": Boxes(image=[0], category=[1], box=[box])}, r"predictions: score: missing"),
        ({"predictions": "none.json"}, "predictions: found str: expected Boxes or a list with one dict per image, as the references are"),
        ({"predictions": [{"image_id": 0, "bbox": box}]}, "predictions: found a list of dicts with the keys image_id, bbox: expected Boxes or"),
        ({"references": {"images": []}}, "references: found dict: expected Boxes or a list"),
    ]
    for change, message in rows:
        with pytest.raises(MetricError, match=message):
            function(**{**good, **change})
    two = {"predictions": good["predictions"] * 2, "references": [image(box), {"boxes": [box]}]}
    with pytest.raises(MetricError, match=r"references\[1\]: no labels") as caught:
        function(**two)
    assert (caught.value.index, caught.value.side) == (1, "reference")


def test_columns_of_another_shape():
    given = {"image": [0, 1], "category": [1, 1], "box": [[0, 0, 9, 9]] * 2}
    for column, values in [("image", [[0, 1]]), ("category", 1.0), ("id", [[1], [2]]), ("crowd", [[0, 0]]), ("area", [[81], [81]])]:
        boxes = Boxes(**{**given, column: values if column != "category" else numpy.float64(values)})
        with pytest.raises(MetricError, match=rf"^references: {column}: found an array of shape .*: expected N values"):
            metric_suite.coco(predictions=Boxes(**given, score=[0.9, 0.9]), references=boxes)


def test_ids_of_several_types():
    given = {"image": [0, 1], "category": [1, 1], "box": [[0, 0, 9, 9]] * 2}
    found = Boxes(**given, score=[0.9, 0.9])
    mixed = numpy.array([numpy.int64(0), numpy.int32(1)], dtype=object)
    assert metric_suite.coco(predictions=found, references=Boxes(**{**given, "image": mixed}))["AR_100"] == 1.0
    named = {**given, "category": ["a", 1]}
    assert metric_suite.coco(predictions=Boxes(**named, score=[0.9, 0.9]), references=Boxes(**named))["AR_100"] == 1.0
    for column in ("image", "category"):
        boxes = Boxes(**{**given, column: ["a", float("nan")]})
        with pytest.raises(MetricError, match=rf"references: {column}\[1\]: found nan: expected an integer or a string") as caught:
            metric_suite.coco(predictions=found, references=boxes)
        assert caught.value.index == 1


def test_ground_truth_with_confidence():
    """Ground truth may come from a detector of supervision: its confidence does not matter."""
    truth = [detections([0, 0, 9, 9], confidence=[0.3]), detections()]
    found = [detections([0, 0, 9, 9], confidence=[0.9]), detections(confidence=[])]
    # The type of an empty list of classes is not that of classes.
    found[1].class_id = truth[1].class_id = numpy.array([])
    assert metric_suite.coco(predictions=found, references=truth)["AR_100"] == 1.0


def columns_of(library):
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    return {"list": list, "pandas": pandas.Series, "polars": polars.Series, "pyarrow": pyarrow.array}[library]


@pytest.mark.parametrize("library", ["list", "pandas", "polars", "pyarrow"])
def test_columns_of_other_libraries(library):
    column = columns_of(library)
    box = [[10, 10, 100, 100], [20, 20, 40, 40]]
    truth = Boxes(image=column(["a", "b"]), category=column([1, 1]), box=box, area=column([8000.0, None]), crowd=column([False, None]))
    found = Boxes(image=column(["a", "b"]), category=column([1, 1]), box=box, score=column([0.5, 0.25]))
    assert ranges(truth, found) == [None, 1.0, None]
    with pytest.raises(MetricError, match=r"predictions: score\[1\]: found NaN"):
        ranges(truth, Boxes(image=["a", "b"], category=[1, 1], box=box, score=column([0.5, None])))


def test_sets_are_not_columns():
    columns = {"image": [0, 1], "category": [1, 1], "box": [[0, 0, 9, 9]] * 2, "score": [0.5, 0.5]}
    for name in columns:
        with pytest.raises(MetricError, match=f"predictions: {name}: found a set"):
            metric_suite.coco(predictions=Boxes(**{**columns, name: {1, 2}}), references=Boxes(image=[0], category=[1], box=[[0, 0, 9, 9]]))


def test_categories_are_a_mapping():
    columns = {"image": [0], "category": [1], "box": [[0, 0, 9, 9]]}
    with pytest.raises(MetricError, match="references: categories: found list: expected a mapping of ids to names"):
        metric_suite.coco(predictions=Boxes(**columns, score=[0.5]), references=Boxes(**columns, categories=["cat"]))


def test_folders_and_other_files(tmp_path):
    (tmp_path / "found").mkdir()
    (tmp_path / "r.parquet").write_bytes(b"PAR1\xff\xfe")
    truth = {"images": [], "categories": [], "annotations": []}
    for name in ("coco", "voc", "tide", "confusion_matrix", "detection", "arc", "vqa", "squad"):
        function = getattr(metric_suite, name)
        # Two paths are read as score_files reads them. Next to values in memory, a path is that of a file of JSON.
        with pytest.raises(MetricError, match="found|folder"):
            function(predictions=tmp_path / "found", references=tmp_path / "found")
        with pytest.raises(MetricError, match="references: .*score_files"):
            function(predictions=[], references=str(tmp_path / "r.parquet"))
    with pytest.raises(MetricError, match="predictions: .*is a folder"):
        metric_suite.coco(predictions=str(tmp_path / "found"), references=truth)
    for side, line in (("truth", "0 0.5 0.5 0.2 0.2"), ("found", "0 0.5 0.5 0.2 0.2 0.9")):
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / "1.txt").write_text(line)
    assert metric_suite.voc(predictions=tmp_path / "found", references=tmp_path / "truth")["mAP"] == 1.0
    assert metric_suite.VOC().update(str(tmp_path / "found"), str(tmp_path / "truth")).compute()["mAP"] == 1.0
    (tmp_path / "truth.txt").write_text("a b\n")
    (tmp_path / "found.txt").write_text("a c\n")
    assert metric_suite.wer(predictions=tmp_path / "found.txt", references=tmp_path / "truth.txt")["wer"] == 0.5
    assert metric_suite.wer(predictions=["a c"], references=tmp_path / "truth.txt")["wer"] == 0.5
    # A text of its own is a mistake more often than a path.
    with pytest.raises(MetricError, match="references: found one string"):
        metric_suite.wer(predictions=str(tmp_path / "found.txt"), references=str(tmp_path / "truth.txt"))
