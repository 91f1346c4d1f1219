"""Images in arrays: label maps, panoptic segments, and the masks, boxes and corners of objects in dicts and Detections."""

from types import SimpleNamespace

import numpy
import pytest

import metric_suite

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RNG = numpy.random.default_rng(7)
LABELS = RNG.integers(0, 4, (3, 5, 6))
FOUND = numpy.where(RNG.random((3, 5, 6)) < 0.7, LABELS, 0)
EXPECTED = metric_suite.segmentation(predictions=FOUND.tolist(), references=LABELS.tolist(), classes=4)


class Tensor:
    """A tensor of another library, which has only DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def _strided(array):
    wide = numpy.zeros((array.shape[0], array.shape[1] * 2, array.shape[2] * 3), array.dtype)
    wide[:, ::2, ::3] = array
    return wide[:, ::2, ::3]


FORMS = {
    "stacked": lambda array: array,
    "list": list,
    "tuple": tuple,
    "generator": lambda array: iter(list(array)),
    "rows": lambda array: array.tolist(),
    "mixed": lambda array: [array[0], *array[1:].tolist()],
    "strided": _strided,
    "reversed": lambda array: array[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
    "columns first": numpy.asfortranarray,
    "read-only": lambda array: _read_only(array.copy()),
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "dlpack": lambda array: [Tensor(image) for image in array],
    "whole dlpack": Tensor,
    "buffer": lambda array: [memoryview(image) for image in array],
}


def _read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"])
def test_label_maps_of_any_form_score_alike(form, kind):
    references = FORMS[form](LABELS.astype(kind))
    result = metric_suite.segmentation(predictions=FORMS[form](FOUND.astype(kind)), references=references, classes=4)
    assert result == EXPECTED


def test_label_maps_of_bools():
    of_bools = metric_suite.segmentation(predictions=FOUND > 1, references=LABELS > 1, classes=2)
    assert of_bools["aAcc"] == ((FOUND > 1) == (LABELS > 1)).mean()


def test_label_maps_in_batches_and_by_id():
    metric = metric_suite.Segmentation(classes=4)
    for prediction, reference in zip(FOUND, LABELS):
        metric.update([prediction], [reference])
    assert metric.compute() == EXPECTED
    names = ["a", "b", "c"]
    by_id = metric_suite.segmentation(
        predictions=dict(zip(names[::-1], FOUND[::-1])), references=dict(zip(names, LABELS)), classes=4, samples=True
    )
    assert by_id == EXPECTED
    assert by_id.samples["id"] == names
    with pytest.raises(metric_suite.MetricError, match='"c"'):
        metric_suite.segmentation(predictions={"a": FOUND[0], "b": FOUND[1]}, references=dict(zip(names, LABELS)), classes=4)


def test_label_maps_are_not_copied():
    """One image of which all rows are the same memory, so that only a copy takes more."""
    import resource

    row = numpy.zeros((1, 1, 8_000), numpy.int64)
    images = numpy.broadcast_to(row, (1, 4_000, 8_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = metric_suite.segmentation(predictions=images, references=images, classes=1)
    assert result["aAcc"] == 1
    # In kilobytes; the array would take 256 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        (numpy.zeros((3, 5, 6)), r"predictions\[0\]: found an array of float64: expected integers, which are labels"),
        (numpy.zeros((5, 6), int), r"predictions: found an array of shape \(5, 6\): expected \(N, height, width\); a single image"),
        (numpy.zeros((3, 4, 5, 6), int), r"predictions: found an array of shape .*of scores of classes, take the argmax"),
        ([LABELS[0], LABELS[1], numpy.zeros((2, 5, 6), int)], r"predictions\[2\]: found an array of shape \(2, 5, 6\)"),
        ([*LABELS[:2], LABELS[2][:4]], r"predictions\[2\].*has 6 x 4 pixels: expected 6 x 5"),
        ([*LABELS[:2], LABELS[2][:0]], r"predictions\[2\].*at least one pixel"),
        (LABELS[:2], "2 predictions and 3 references"),
    ],
)
def test_label_maps_that_are_refused(predictions, expected):
    with pytest.raises(metric_suite.MetricError, match=expected):
        metric_suite.segmentation(predictions=predictions, references=LABELS, classes=4)


def test_labels_beyond_the_classes_name_the_image():
    with pytest.raises(metric_suite.MetricError, match=r"references\[1\].*label 18446744073709551615|references\[1\].*9223372036854775807"):
        wrong = LABELS.astype("uint64")
        wrong[1, 0, 0] = 2**64 - 1
        metric_suite.segmentation(predictions=FOUND, references=wrong, classes=4)


IDS = [numpy.array([[1, 1, 2], [1, 2, 2]]), numpy.array([[5, 0, 0]])]
SEGMENTS = [[{"id": 1, "category_id": 7, "isthing": 1}, {"id": 2, "category_id": 8, "isthing": 0}], [{"id": 5, "category_id": 7}]]


def _segments(ids=IDS, form=lambda array: array):
    return [{"segments_info": segments, "ids": form(array)} for array, segments in zip(ids, SEGMENTS)]


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int32", "int64"])
def test_panoptic_segments_in_arrays(kind):
    expected = metric_suite.panoptic(predictions=_segments(form=numpy.ndarray.tolist), references=_segments(form=numpy.ndarray.tolist))
    sides = _segments(form=lambda array: array.astype(kind))
    assert metric_suite.panoptic(predictions=sides, references=sides) == expected
    assert metric_suite.panoptic(predictions=sides, references=_segments(form=numpy.ndarray.tolist)) == expected
    by_id = [dict(zip("ab", side)) for side in (sides, sides)]
    assert metric_suite.panoptic(predictions=by_id[0], references=by_id[1]) == expected


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([IDS[0], IDS[1] - 1], r"predictions\[1\].*found -1 in row 0, column 1: expected an id of 0 to 4294967295"),
        ([IDS[0], numpy.array([5])], r"predictions\[1\]: ids: found an array of shape \(1,\): expected \(height, width\)"),
        ([IDS[0], IDS[1] * 1.5], r"predictions\[1\]: ids: found an array of float64"),
        ([IDS[0], IDS[1] + 1], r"predictions\[1\]"),
    ],
)
def test_panoptic_segments_that_are_refused(ids, expected):
    with pytest.raises(metric_suite.MetricError, match=expected):
        metric_suite.panoptic(predictions=_segments(ids), references=_segments())


def test_panoptic_ids_of_references_are_named_as_such():
    with pytest.raises(metric_suite.MetricError, match=r"references\[1\].*found -1"):
        metric_suite.panoptic(predictions=_segments(), references=_segments([IDS[0], IDS[1] - 1]))


CORNERS = numpy.array([[10, 20, 30, 60], [0, 0, 5, 5]], dtype="float32")
SIZES = numpy.array([[10, 20, 20, 40], [0, 0, 5, 5]], dtype="float32")
CENTERS = numpy.array([[20, 40, 20, 40], [2.5, 2.5, 5, 5]], dtype="float32")
DETECTION = ["coco", "voc", "lvis", "detection", "confusion_matrix", "ultralytics", "tide"]


def _dicts(**columns):
    truth = {"labels": numpy.array([1, 2]), **columns}
    return [{**truth, "scores": numpy.array([0.9, 0.1])}], [truth]


@pytest.mark.parametrize("name", DETECTION)
def test_boxes_of_three_formats(name):
    score = getattr(metric_suite, name)
    found, truth = _dicts(boxes=CORNERS)
    moved = [{**found[0], "boxes": CORNERS + 1}]
    expected = score(predictions=moved, references=truth)
    for box_format, boxes, step in (("xywh", SIZES, [1, 1, 0, 0]), ("cxcywh", CENTERS, [1, 1, 0, 0])):
        found, truth = _dicts(boxes=boxes)
        moved = [{**found[0], "boxes": boxes + numpy.array(step, "float32")}]
        assert score(predictions=moved, references=truth, box_format=box_format) == expected
    kind = metric_suite.score(name, predictions=moved, references=truth, box_format="cxcywh")
    assert kind == expected


def test_batches_of_another_format():
    found, truth = _dicts(boxes=SIZES)
    metric = metric_suite.Metric("coco", box_format="xywh").update(found, truth)
    assert metric.compute() == metric_suite.coco(predictions=found, references=truth, box_format="xywh")


def test_formats_that_are_refused():
    found, truth = _dicts(boxes=CORNERS)
    with pytest.raises(metric_suite.MetricError, match="box_format='yolo': expected one of xyxy, xywh, cxcywh"):
        metric_suite.coco(predictions=found, references=truth, box_format="yolo")
    with pytest.raises(metric_suite.MetricError, match="wer has no boxes"):
        metric_suite.score("wer", predictions=["a"], references=["a"], box_format="xywh")
    with pytest.raises(metric_suite.MetricError, match=r"predictions\[0\]: boxes: found .*expected N by 4 \(x and y of the center, width"):
        metric_suite.coco(predictions=[{**found[0], "boxes": CORNERS[:, :3]}], references=truth, box_format="cxcywh")


MASKS = numpy.zeros((2, 40, 25), bool)
MASKS[0, 2:12, 3:18] = True
MASKS[1, 30:] = True


@pytest.mark.parametrize("kind", ["bool", "uint8"])
@pytest.mark.parametrize(("name", "score"), [("coco", "AP50"), ("lvis", "AP50"), ("voc", "mAP"), ("ultralytics", "mask_mAP50")])
def test_masks_of_dicts_and_detections(name, score, kind):
    # Half of the first mask is found, and the second one whole.
    half = MASKS.copy()
    half[0, 2:8] = False
    found, truth = _dicts(masks=half.astype(kind))[0], _dicts(masks=MASKS.astype(kind))[1]
    options = {"predictions": found, "references": truth, "iou_type": "segm"}
    result = getattr(metric_suite, name)(**options)
    print(result)
    detections = [
        SimpleNamespace(xyxy=numpy.zeros((2, 4)), mask=masks, class_id=numpy.array([1, 2]), confidence=scores, data={})
        for masks, scores in ((half, numpy.array([0.9, 0.1])), (MASKS, None))
    ]
    options = {"predictions": detections[:1], "references": detections[1:], "iou_type": "segm"}
    assert list(result.values())[:3] != [None] * 3
    if name != "ultralytics":
        assert getattr(metric_suite, name)(**options)[score] == result[score] == pytest.approx(0.5)


def test_ultralytics_compares_boxes_next_to_masks():
    found, truth = _dicts(masks=MASKS, boxes=CORNERS)
    result = metric_suite.ultralytics(predictions=[{**found[0], "boxes": CORNERS + 100}], references=truth, iou_type="segm")
    assert result["mAP50"] == 0
    assert any(value == pytest.approx(0.995) for value in result.values())
    found, truth = _dicts(masks=MASKS)
    assert metric_suite.ultralytics(predictions=found, references=truth, iou_type="segm")["mAP50"] == pytest.approx(0.995)


TURNED = numpy.array([[[0, 0], [10, 0], [10, 5], [0, 5]], [[20, 20], [30, 30], [25, 35], [15, 25]]], dtype=float)


@pytest.mark.parametrize("name", ["coco", "voc", "ultralytics", "confusion_matrix"])
def test_oriented_boxes(name):
    def detections(corners, scores=None):
        fields = {"xyxy": numpy.zeros((2, 4)), "mask": None, "class_id": numpy.array([0, 1]), "confidence": scores}
        return [SimpleNamespace(**fields, data={"xyxyxyxy": corners})]

    options = {"iou_type": "obb", **({"profile": "ultralytics"} if name == "confusion_matrix" else {})}
    score = getattr(metric_suite, name)
    scores = numpy.array([0.9, 0.1])
    exact = score(predictions=detections(TURNED, scores), references=detections(TURNED), **options)
    assert next(iter(exact.values())) == pytest.approx(1)
    flat = score(predictions=detections(TURNED.reshape(2, 8), scores), references=detections(TURNED), **options)
    assert flat == exact
    away = score(predictions=detections(TURNED + 100, scores), references=detections(TURNED), **options)
    assert next(iter(away.values())) == 0
    with pytest.raises(metric_suite.MetricError, match=r"predictions\[0\]: xyxyxyxy: found an array of shape \(2, 3\): expected N by 4 by 2"):
        score(predictions=detections(TURNED.reshape(2, 8)[:, :3], scores), references=detections(TURNED), **options)
    with pytest.raises(metric_suite.MetricError, match='Boxes have no xyxyxyxy, which iou_type="obb" compares'):
        boxes = metric_suite.Boxes(image=[0], category=[0], box=[[0, 0, 1, 1]], score=[1])
        score(predictions=boxes, references=detections(TURNED), **options)


def test_oriented_boxes_by_hand():
    # A square, and the same one moved by half of its side: IoU 1/3.
    square = numpy.array([[[0, 0], [10, 0], [10, 10], [0, 10]]], dtype=float)
    truth = [{"xyxyxyxy": square, "labels": [1]}]
    found = [{"xyxyxyxy": square + [5, 0], "labels": [1], "scores": [0.5]}]
    scores = [metric_suite.voc(predictions=found, references=truth, iou_type="obb", iou=iou)["mAP"] for iou in (0.33, 0.34)]
    assert scores == [1, 0]


def test_a_missing_field_says_which_option_compares_the_others():
    found, truth = _dicts(masks=MASKS)
    with pytest.raises(metric_suite.MetricError, match=r'predictions\[0\]: no boxes: .*; iou_type="segm" compares masks'):
        metric_suite.coco(predictions=found, references=truth)


def test_run_lengths_as_bytes():
    mask = pytest.importorskip("pycocotools.mask")
    runs = mask.encode(numpy.asfortranarray(MASKS[0].astype("uint8")))
    assert isinstance(runs["counts"], bytes)
    image, box = {"id": 1, "height": 40, "width": 25}, mask.toBbox(runs).tolist()
    one = {"id": 1, "image_id": 1, "category_id": 1, "bbox": box, "area": 150, "iscrowd": 0, "segmentation": runs}
    truth = {"images": [image], "categories": [{"id": 1, "name": "a"}], "annotations": [one]}
    found = [{"image_id": 1, "category_id": 1, "score": 0.9, "segmentation": runs}]
    assert metric_suite.coco(predictions=found, references=truth, iou_type="segm")["AR_100"] == 1
    with pytest.raises(metric_suite.MetricError, match=r"predictions\[0\]\['segmentation'\]\['counts'\]: found bytes that are no text"):
        metric_suite.coco(predictions=[{**found[0], "segmentation": {**runs, "counts": b"\xff"}}], references=truth, iou_type="segm")
    segments = [{"segments_info": [{"id": 1, "category_id": 7, "area": 150, "segmentation": runs}]}]
    assert metric_suite.panoptic(predictions=segments, references=segments)["PQ"] == 1


def test_systems_of_label_maps_are_compared():
    found = metric_suite.compare("segmentation", references=LABELS, predictions={"all": LABELS, "some": FOUND}, classes=4)
    texts = metric_suite.compare(
        "segmentation", references=LABELS.tolist(), predictions={"all": LABELS.tolist(), "some": FOUND.tolist()}, classes=4
    )
    assert found == texts
