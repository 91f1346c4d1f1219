"""Label maps: the function on lists and arrays, and the module of evaluate."""

import importlib.util
import json
from pathlib import Path

import numpy
import pytest

import metric_suite
import metric_suite.evaluate

evaluate = pytest.importorskip("evaluate")

GOLDEN = Path(__file__).parents[2] / "tests/golden/segmentation/semantic"


def _module():
    path = metric_suite.evaluate.path("mean_iou") / "mean_iou.py"
    spec = importlib.util.spec_from_file_location("loaded_mean_iou", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return object.__new__(loaded.MeanIoU)


REFERENCES = [numpy.array([[0, 1], [1, 255]], dtype=numpy.uint8), numpy.array([[2, 2, 0]], dtype=numpy.int64)]
PREDICTIONS = [numpy.array([[0, 1], [0, 1]], dtype=numpy.int32), numpy.array([[2, 1, 0]], dtype=numpy.uint16)]
#: Class 0: two of three pixels. Class 1: one of three. Class 2: one of two.
IOU = [2 / 3, 1 / 3, 1 / 2]


def test_function_of_lists():
    maps = [[array.tolist() for array in side] for side in (PREDICTIONS, REFERENCES)]
    result = metric_suite.segmentation(predictions=maps[0], references=maps[1], classes=3)
    assert result["mIoU"] == numpy.mean(IOU)
    assert result["aAcc"] == 4 / 6


def test_function_of_arrays():
    result = metric_suite.segmentation(predictions=PREDICTIONS, references=REFERENCES, classes=3)
    assert result["mIoU"] == numpy.mean(IOU)
    stacked = [numpy.stack([side[0], side[0]]) for side in (PREDICTIONS, REFERENCES)]
    result = metric_suite.segmentation(predictions=stacked[0], references=stacked[1], classes=3)
    assert result["aAcc"] == 2 / 3


def test_mean_iou():
    options = {"num_labels": 3, "ignore_index": 255}
    result = _module().compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    assert result["mean_iou"] == numpy.mean(IOU)
    assert result["per_category_iou"].tolist() == IOU
    assert result["overall_accuracy"] == 4 / 6

    batches = _module()
    for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
        batches.add_batch(predictions=[prediction.T], references=[reference.T])
    assert batches.compute(**options)["mean_iou"] == result["mean_iou"]


def test_mean_iou_of_the_examples_of_its_card():
    """Pairs of predictions and references of evaluate's page, and the scores that it prints."""
    pairs = [
        ([[1, 2], [3, 4], [5, 255]], [[0, 3], [5, 4], [6, 255]]),
        ([[2, 7], [9, 2], [3, 6]], [[1, 7], [9, 2], [3, 6]]),
        ([[2, 2, 3], [8, 2, 4], [3, 255, 2]], [[1, 2, 2], [8, 2, 1], [3, 255, 1]]),
    ]
    predictions, references = ([numpy.array(image) for image in side] for side in zip(*pairs))
    options = {"num_labels": 10, "ignore_index": 255}
    result = _module().compute(predictions=predictions, references=references, reduce_labels=False, **options)
    assert result["mean_iou"] == 0.47750000000000004
    assert result["mean_accuracy"] == 0.5916666666666666
    assert result["overall_accuracy"] == 0.5263157894736842
    assert result["per_category_iou"].tolist() == [0, 0, 0.375, 0.4, 0.5, 0, 0.5, 1, 1, 1]
    assert result["per_category_accuracy"].tolist() == [0, 0, 0.75, 2 / 3, 1, 0, 0.5, 1, 1, 1]
    # An array of two dimensions is one image.
    alone = _module().compute(predictions=predictions[2], references=references[2], **options)
    assert alone["overall_accuracy"] == 4 / 8


def test_mean_iou_of_absent_classes():
    options = {"num_labels": 4, "ignore_index": 255}
    result = _module().compute(predictions=PREDICTIONS, references=REFERENCES, **options)
    assert numpy.isnan(result["per_category_iou"][3])
    result = _module().compute(predictions=PREDICTIONS, references=REFERENCES, nan_to_num=0, **options)
    assert result["per_category_iou"][3] == 0
    # The mean leaves the class out in any case.
    assert result["mean_iou"] == numpy.mean(IOU)


def test_mean_iou_maps_all_labels_at_once():
    predictions, references = [[[0, 1]]], [[[1, 0]]]
    result = _module().compute(predictions=predictions, references=references, num_labels=2, ignore_index=255, label_map={0: 1, 1: 0})
    assert result["mean_iou"] == 1
    result = _module().compute(predictions=[[[0, 1]]], references=[[[1, 2]]], num_labels=2, ignore_index=255, reduce_labels=True)
    assert result["mean_iou"] == 1


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ([[0.5, 0.5]], [[0, 1]], "argmax"),
        ([[0, 1]], [[0]], "equal shapes"),
        ([0, 1], [[0, 1]], "shape"),
    ],
)
def test_mean_iou_refuses(prediction, reference, expected):
    with pytest.raises(ValueError, match=expected):
        _module().compute(predictions=[prediction], references=[reference], num_labels=2, ignore_index=255)


def _rows():
    lines = (GOLDEN / "cases.jsonl").read_text().splitlines()[1:]
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["format"].startswith("npy") and row["expect"] == "scores"]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["name"])
def test_mean_iou_of_golden_files(row):
    expected = row["results"].get("huggingface")
    if expected is None:
        pytest.skip("evaluate has no result")
    folder = GOLDEN / row["name"]
    names = sorted(path.name for path in (folder / "reference").iterdir())
    references = [numpy.load(folder / "reference" / name) for name in names]
    predictions = [numpy.load(folder / "prediction" / name) for name in names]
    result = _module().compute(
        predictions=predictions, references=references, num_labels=row["num_classes"], ignore_index=row["ignore_index"]
    )
    for name in ("mean_iou", "mean_accuracy", "overall_accuracy"):
        assert result[name] == expected[name]
    numpy.testing.assert_array_equal(result["per_category_iou"], numpy.array(expected["per_category_iou"], dtype=float))
