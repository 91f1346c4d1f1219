"""Keypoints: the numbers of pycocotools 2.0.11."""

import json

import pytest

import metric_suite
import golden

NAMES = ["AP", "AP50", "AP75", "AP_medium", "AP_large", "AR", "AR50", "AR75", "AR_medium", "AR_large"]


def rows():
    return golden.rows("vision/coco_keypoints.jsonl")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_golden_rows(row):
    given = row["params"]
    names = {"kpt_oks_sigmas": "oks_sigmas", "maxDets": "max_detections", "iouThrs": "iou"}
    options = {names[name]: value for name, value in given.items()}
    result = metric_suite.coco(
        predictions=json.loads(row["dt"]),
        references=json.loads(row["gt"]),
        iou_type="keypoints",
        quirks="pycocotools",
        **options,
    )
    assert list(result) == NAMES
    assert [-1.0 if value is None else value for value in result.values()] == row["expected"]["stats"]


def test_batches_are_the_whole():
    row = rows()[2]
    truth, found = json.loads(row["gt"]), json.loads(row["dt"])
    whole = metric_suite.coco(predictions=found, references=truth, iou_type="keypoints")
    metric = metric_suite.COCO(iou_type="keypoints")
    for chosen in ({1, 2, 3}, {image["id"] for image in truth["images"]} - {1, 2, 3}):
        part = {
            **truth,
            "images": [image for image in truth["images"] if image["id"] in chosen],
            "annotations": [one for one in truth["annotations"] if one["image_id"] in chosen],
        }
        metric.update([one for one in found if one["image_id"] in chosen], part)
    assert dict(metric_suite.Metric.from_bytes(metric.to_bytes()).compute()) == dict(whole)


def test_wrong_numbers_of_points():
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "area": 9, "keypoints": [1, 2, 2]}],
    }
    with pytest.raises(metric_suite.MetricError, match="as many as oks_sigmas has"):
        metric_suite.coco(predictions=[], references=truth, iou_type="keypoints")
    with pytest.raises(metric_suite.MetricError, match="is for iou_type"):
        metric_suite.coco(predictions=[], references=truth, oks_sigmas=[0.5])


def test_the_arrays_of_a_result():
    row = rows()[0]
    result = metric_suite.coco(predictions=json.loads(row["dt"]), references=json.loads(row["gt"]), iou_type="keypoints")
    assert list(result.precision.shape) == row["expected"]["shape"] == list(result.scores.shape)
    shape = result.precision.shape
    assert result.recall.shape == (shape[0], *shape[2:])
    # The first score is the mean of what is defined, over all thresholds in the first area range.
    values = result.precision[:, :, :, 0, -1]
    assert values[values > -1].mean() == pytest.approx(result["AP"], abs=1e-12)
