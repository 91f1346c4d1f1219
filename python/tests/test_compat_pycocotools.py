"""`metric_suite.compat.pycocotools`: rows by hand, and the same as pycocotools where it is installed."""

import contextlib
import copy
import io
import json
import random
import subprocess
import sys

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metric_suite.compat.pycocotools import coco, cocoeval, mask

IMAGES = [{"id": 7, "height": 6, "width": 8}, {"id": 3, "height": 6, "width": 8}]
CATEGORIES = [{"id": 2, "name": "cat", "supercategory": "pet"}, {"id": 1, "name": "dog", "supercategory": "pet"}]


def quiet(call, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return call(*arguments)


def data_set(annotations, images=IMAGES, categories=CATEGORIES, package=coco):
    data = package.COCO()
    data.dataset = {"images": images, "categories": categories, "annotations": annotations}
    quiet(data.createIndex)
    return data


def annotation(id, image, category, box, **more):
    return {"id": id, "image_id": image, "category_id": category, "bbox": box, "area": box[2] * box[3], "iscrowd": 0, **more}


def test_masks_by_hand():
    pixels = numpy.array([[1, 0, 0], [1, 1, 0]], dtype="uint8", order="F")
    encoded = mask.encode(pixels)
    assert mask.encode(pixels.astype(bool, order="F")) == encoded
    # By columns: 0 outside, 2 inside, 1 outside, 1 inside, 2 outside.
    assert encoded == mask.frPyObjects({"size": [2, 3], "counts": [0, 2, 1, 1, 2]}, 2, 3)
    assert numpy.array_equal(mask.decode(encoded), pixels)
    assert mask.area(encoded) == 3
    assert mask.toBbox(encoded).tolist() == [0, 0, 2, 2]
    left = mask.frPyObjects(numpy.array([[0, 0, 1, 2]]), 2, 3)[0]
    assert mask.iou([left], [encoded], [0]).tolist() == [[2 / 3]]
    assert mask.iou([left], [encoded], [1]).tolist() == [[1.0]]
    assert mask.merge([left, encoded]) == encoded
    assert mask.merge([left, encoded], intersect=True) == left
    assert mask.iou([], [left], [0]) == []
    assert mask.iou([[0, 0, 2, 2]], numpy.array([[1, 0, 2, 2]]), [0]).tolist() == [[2 / 6]]


def test_run_lengths_are_compressed_as_they_are():
    # They do not add up to the image, and the first is empty: as pycocotools 2.0.11 writes them.
    plain = {"size": [1350, 1080], "counts": [0, 5, 5, 5, 5, 2, 3, 5, 2, 3, 5, 2, 3, 55]}
    compressed = {"size": [1350, 1080], "counts": b"05500MN3ON3ONe1"}
    assert mask.frPyObjects(plain, 1350, 1080) == compressed
    assert mask.frPyObjects([plain], 1350, 1080) == [compressed]
    assert mask.merge([compressed]) == compressed
    # The remaining pixels of the image are outside, except where pixels are asked for.
    assert mask.area(compressed) == 5 + 5 + 2 + 5 + 3 + 2 + 55
    assert mask.iou([compressed], [compressed], [0]).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="add up to"):
        mask.decode(compressed)


def test_arrays_of_any_order_are_encoded():
    # Column by column: 1 pixel outside, 2 inside, 1 outside, 2 inside.
    expected = mask.frPyObjects({"size": [2, 3], "counts": [1, 2, 1, 2]}, 2, 3)
    pixels = numpy.array([[0, 1, 1], [1, 0, 1]], dtype="uint8")
    wide = numpy.zeros((2, 6), dtype="uint8")
    wide[:, ::2] = pixels
    for same in (pixels, numpy.asfortranarray(pixels), wide[:, ::2], pixels * 255, -pixels.view("int8"), pixels > 0):
        assert mask.encode(same) == expected
    assert mask.encode(numpy.stack([pixels, pixels], axis=2)) == [expected, expected]


def test_a_polygon_of_two_points_is_not_a_box():
    """A list of 4 numbers is refused as in pycocotools, where boxes are arrays."""
    for objects in ([[12, 60, 40, 66]], [12, 60, 40, 66], [[1, 1, 3, 3], [1, 1, 8, 1, 8, 8]]):
        with pytest.raises(TypeError, match="found a list of 4 numbers"):
            mask.frPyObjects(objects, 150, 200)
    # An entry of 4 numbers after a polygon is a line, without area, as in pycocotools.
    assert mask.area(mask.frPyObjects([[1, 1, 8, 1, 8, 8], [5, 5, 6, 6]], 10, 10)).tolist() == [21, 0]
    data = coco.COCO()
    data.dataset = {"images": [{"id": 1, "width": 200, "height": 150}]}
    data.createIndex()
    with pytest.raises(TypeError):
        data.annToMask({"image_id": 1, "segmentation": [[12, 60, 40, 66]]})


def test_masks_in_other_spellings():
    compressed = {"size": [2, 3], "counts": b"024"}
    # Sizes from tables are often floats.
    floats = {"size": (2.0, numpy.float64(3)), "counts": "024"}
    assert mask.area(floats) == 2 and mask.merge([floats, compressed]) == compressed
    assert mask.decode(floats).tolist() == [[1, 0, 0], [1, 0, 0]]
    assert mask.frPyObjects(numpy.array([[0, 0, 1, 2]]), 2.0, 3.0) == [compressed]
    # Compressed run lengths stay as they are. A list of run lengths is not a compressed text.
    assert mask.frPyObjects(floats, 2, 3) == mask.frPyObjects(compressed, 2, 3) == compressed
    for counts in ([0, 2, 4], bytearray(b"024"), memoryview(b"024")):
        for function in (mask.area, mask.decode, mask.toBbox):
            with pytest.raises(TypeError, match="expected str or bytes"):
                function({"size": [2, 3], "counts": counts})


def test_masks_without_pixels():
    for height, width in ((0, 5), (5, 0), (0, 0)):
        empty = {"size": [height, width], "counts": b"0"}
        assert mask.encode(numpy.zeros((height, width), dtype="uint8")) == empty
        assert mask.encode(numpy.zeros((height, width, 2), dtype="uint8")) == [empty, empty]
        assert mask.decode(empty).shape == (height, width) and mask.area(empty) == 0
    assert mask.encode(numpy.zeros((3, 4, 0), dtype="uint8")) == []


def test_masks_of_different_sizes():
    boxes = numpy.array([[0, 0, 2, 2], [3, 3, 1, 1]])
    small, large = mask.frPyObjects(boxes[:1], 4, 4), mask.frPyObjects(boxes, 5, 5)
    assert mask.iou(small, large, [0, 0]).tolist() == [[-1.0, 0.0]]
    assert mask.merge([*small, *large]) == {"size": [0, 0], "counts": b""}


def test_wrong_masks():
    with pytest.raises(ValueError, match="expected uint8"):
        mask.encode(numpy.zeros((2, 2)))
    with pytest.raises(ValueError, match="add up to 4"):
        mask.area({"size": [1, 3], "counts": b"4"})
    with pytest.raises(TypeError, match="same kind"):
        mask.iou([[0, 0, 1, 1]], [{"size": [1, 1], "counts": b"1"}], [0])
    for boxes in ([[0, 0, 1, 1]], []):
        with pytest.raises(AssertionError, match=f"2 flags for {len(boxes)}"):
            mask.iou(boxes, boxes, [0, 1])
    with pytest.raises(IndexError):
        mask.frPyObjects([], 2, 2)


def test_data_set():
    data = data_set([annotation(5, 7, 2, [0, 0, 2, 2]), annotation(6, 3, 1, [0, 0, 3, 3], iscrowd=1)])
    assert data.getAnnIds() == [5, 6]
    assert data.getAnnIds(imgIds=3) == data.getAnnIds(catIds=[1]) == data.getAnnIds(areaRng=[5, 10]) == [6]
    assert data.getAnnIds(iscrowd=False) == [5]
    assert data.getCatIds(catNms="dog") == [1] and data.getCatIds(supNms=["pet"]) == [2, 1]
    assert data.getImgIds(catIds=2) == [7] and sorted(data.getImgIds()) == [3, 7]
    assert data.loadAnns(5)[0]["image_id"] == 7 and data.loadCats([1])[0]["name"] == "dog"
    assert data.annToMask(annotation(1, 7, 2, [0, 0, 1, 1], segmentation=[[0, 0, 0, 6, 1, 6, 1, 0]])).sum() == 6


def test_results(tmp_path):
    data = data_set([annotation(5, 7, 2, [0, 0, 2, 2])])
    found = [{"image_id": 7, "category_id": 2, "bbox": [0, 0, 2, 3], "score": 0.5}]
    (tmp_path / "r.json").write_text(json.dumps(found))
    rows = numpy.array([[7, 0, 0, 2, 3, 0.5, 2]])
    for given_as in (found, str(tmp_path / "r.json"), rows):
        results = quiet(data.loadRes, given_as)
        assert results.anns[1]["area"] == 6 and results.anns[1]["score"] == 0.5
        assert results.anns[1]["segmentation"] == [[0, 0, 0, 3, 2, 3, 2, 0]]
    with pytest.raises(AssertionError, match="lacks"):
        quiet(data.loadRes, [{"image_id": 8, "bbox": [0, 0, 1, 1]}])


def evaluated(package, data, found, kind, most=(1, 10, 100), use_categories=1, look=False):
    """Returns an evaluation and what it printed, without the lines that tell the time."""
    modules = {name: __import__(f"{package}.{name}", fromlist=["_"]) for name in ("coco", "cocoeval")}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        truths = modules["coco"].COCO()
        truths.dataset = copy.deepcopy(data)
        truths.createIndex()
        evaluation = modules["cocoeval"].COCOeval(truths, truths.loadRes(copy.deepcopy(found)), kind)
        if kind != "keypoints":
            evaluation.params.maxDets = list(most)
        evaluation.params.useCats = use_categories
        evaluation.evaluate()
        if look:
            assert evaluation.evalImgs is evaluation.evalImgs
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation, [line for line in printed.getvalue().splitlines() if "t=" not in line]


OURS = "metric_suite.compat.pycocotools"


def test_evaluation_by_hand():
    data = {"images": IMAGES, "categories": CATEGORIES, "annotations": [annotation(5, 7, 2, [0, 0, 4, 4])]}
    found = [
        {"image_id": 7, "category_id": 2, "bbox": [0, 0, 4, 3], "score": 0.9},
        {"image_id": 7, "category_id": 2, "bbox": [5, 4, 2, 2], "score": 0.8},
    ]
    evaluation, printed = evaluated(OURS, data, found, "bbox")
    # An IoU of 12 / 16: right at 0.5 to 0.75, six of ten thresholds.
    assert evaluation.stats[0] == pytest.approx(0.6)
    assert evaluation.stats[1:4].tolist() == pytest.approx([1, 1, 0.6])
    assert evaluation.stats[4] == -1
    assert printed[-12] == " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.600"
    matches = [entry["dtMatches"].tolist() for entry in evaluation.evalImgs if entry is not None][0]
    assert matches[5] == [5, 0] and matches[6] == [0, 0]
    assert evaluation.ious[7, 2].tolist() == [[12 / 16], [0.0]]


def test_subclasses_and_assigned_entries():
    class Doubled(cocoeval.COCOeval):
        def computeIoU(self, imgId, catId):
            return super().computeIoU(imgId, catId) * 2 if (imgId, catId) == (7, 2) else []

    data = data_set([annotation(5, 7, 2, [0, 0, 4, 4])])
    found = quiet(data.loadRes, [{"image_id": 7, "category_id": 2, "bbox": [0, 0, 4, 2], "score": 0.9}])
    plain, doubled = (kind(data, found, "bbox") for kind in (cocoeval.COCOeval, Doubled))
    for evaluation in (plain, doubled):
        quiet(evaluation.evaluate)
        quiet(evaluation.accumulate)
        quiet(evaluation.summarize)
    assert (plain.stats[0], doubled.stats[0]) == (pytest.approx(0.1), pytest.approx(1.0))
    # As programs do that evaluate image by image, in several processes.
    other = cocoeval.COCOeval(data, iouType="bbox")
    other._paramsEval = copy.deepcopy(doubled.params)
    other.evalImgs = doubled.evalImgs
    quiet(other.accumulate)
    assert numpy.array_equal(other.eval["precision"], doubled.eval["precision"])


@pytest.mark.parametrize("kind", ["bbox", "segm", "keypoints"])
def test_all_kinds_go_through_the_engine(kind):
    data, found = next(given for given in map(random_data, range(99)) if len(given[0]["annotations"]) > 9)
    data["annotations"] = [{**one, "id": number} for number, one in enumerate(data["annotations"], 1)]
    truths = data_set(data["annotations"], data["images"], data["categories"])
    found = [{key: value for key, value in one.items() if kind == "bbox" or key != "bbox"} for one in found]
    if kind == "segm":
        found = [{**one, "segmentation": mask.frPyObjects([[0, 0, 9, 0, 9, 9]], 60, 80)[0]} for one in found]
    evaluation = cocoeval.COCOeval(truths, quiet(truths.loadRes, found), kind)
    quiet(evaluation.evaluate)
    assert evaluation._arrays is not None


def test_without_evaluation():
    with pytest.raises(Exception, match="accumulate"):
        cocoeval.COCOeval().summarize()
    with pytest.raises(Exception, match="not supported"):
        cocoeval.Params("panoptic")


def test_install():
    program = (
        "from metric_suite.compat import pycocotools as ours; ours.install()\n"
        "import pycocotools.mask; from pycocotools.coco import COCO; from pycocotools.cocoeval import COCOeval\n"
        "print(COCO.__module__, COCOeval.__module__, pycocotools.mask.iou.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{OURS}.{name}" for name in ("coco", "cocoeval", "mask")]


def random_data(seed):
    """Returns a data set and detections of it, with ties, crowds, ids of 0 and images without objects."""
    of = random.Random(seed)
    images = [{"id": id, "height": 60, "width": 80} for id in of.sample(range(50), of.randint(1, 5))]
    categories = [{"id": id, "name": str(id)} for id in of.sample(range(9), of.randint(1, 3))]
    first = of.randint(0, 1)

    def box():
        return [of.randint(0, 40), of.randint(0, 30), of.randint(1, 39), of.randint(1, 29)]

    def keypoints():
        return [of.randint(0, 40) if place % 3 < 2 else of.randint(0, 2) * of.randint(0, 1) for place in range(51)]

    annotations, found = [], []
    for number in range(of.randint(0, 20)):
        left, top, width, height = box()
        right, bottom = left + width, top + height
        annotations.append(
            {
                "id": number + first,
                "image_id": of.choice(images)["id"],
                "category_id": of.choice(categories)["id"],
                "bbox": [left, top, width, height],
                "area": width * height * of.choice([1, 0.7, 20]),
                "iscrowd": int(of.random() < 0.15),
                "segmentation": [[left, top, left, bottom, right, bottom, right, top]],
                "keypoints": keypoints(),
                "num_keypoints": of.choice([0, 5, 5]),
            }
        )
    for _ in range(of.randint(1, 30)):
        if annotations and of.random() < 0.7:
            near = of.choice(annotations)
            moved = [value + of.randint(-1, 1) * of.random() for value in near["bbox"]]
            shape = [*moved[:2], max(moved[2], 1.0), max(moved[3], 1.0)]
            image, category, points = near["image_id"], near["category_id"], list(near["keypoints"])
            points[of.randint(0, 50)] += of.randint(0, 9)
        else:
            image, category = of.choice(images)["id"], of.choice(categories)["id"]
            shape, points = box(), keypoints()
        found.append(
            {"image_id": image, "category_id": category, "bbox": shape, "score": round(of.random(), 1), "keypoints": points}
        )
    return {"images": images, "categories": categories, "annotations": annotations}, found


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**9),
    st.sampled_from(["bbox", "segm", "keypoints"]),
    st.sampled_from([(1, 10, 100), (1, 2, 5), (100, 3, 1)]),
    st.sampled_from([1, 1, 0]),
    st.booleans(),
)
def test_the_same_as_pycocotools(seed, kind, most, use_categories, look):
    pytest.importorskip("pycocotools")
    data, found = random_data(seed)
    if kind == "keypoints":
        found = [{key: value for key, value in one.items() if key != "bbox"} for one in found]
    arguments = (data, found, kind, most, use_categories)
    theirs, expected = evaluated("pycocotools", *arguments)
    mine, printed = evaluated(OURS, *arguments, look)
    assert printed == expected
    assert numpy.array_equal(mine.stats, theirs.stats)
    assert mine.eval["counts"] == theirs.eval["counts"]
    for name in ("precision", "recall", "scores"):
        assert numpy.array_equal(mine.eval[name], theirs.eval[name])
    assert mine.ious.keys() == theirs.ious.keys()
    for key, overlaps in theirs.ious.items():
        assert type(mine.ious[key]) is type(overlaps)
        assert numpy.array_equal(mine.ious[key], overlaps)
    assert len(mine.evalImgs) == len(theirs.evalImgs)
    for entry, other in zip(mine.evalImgs, theirs.evalImgs):
        assert (entry is None) == (other is None)
        for key, value in (other or {}).items():
            assert type(entry[key]) is type(value)
            assert numpy.array_equal(entry[key], value), key
            assert not isinstance(value, numpy.ndarray) or (entry[key].dtype, entry[key].shape) == (value.dtype, value.shape)


@settings(deadline=None)
@given(st.integers(0, 10**9))
def test_masks_are_those_of_pycocotools(seed):
    theirs = pytest.importorskip("pycocotools.mask")
    of = numpy.random.default_rng(seed)
    height, width, count = (int(value) for value in of.integers(1, 14, 3))
    pixels = numpy.asfortranarray(of.random((height, width, count)) < of.random(), dtype="uint8")
    polygons = [[float(value) for value in of.integers(-4, 60, 2 * of.integers(3, 6)) / 4] for _ in range(count)]
    boxes = numpy.round(of.random((count, 4)) * 12 - 1, 1)

    def everything(package):
        encoded = package.encode(pixels)
        drawn = package.frPyObjects(polygons, height, width)
        boxed = package.frPyObjects(boxes, height, width)
        counts = package.frPyObjects({"size": [2, 3], "counts": [1, 2, 3]}, 2, 3)
        text = [{**one, "counts": one["counts"].decode()} for one in encoded]
        crowd = [place % 2 for place in range(count)]
        lists = [encoded, drawn, boxed, counts, package.encode(pixels[:, :, 0])]
        merged = [package.merge(all, intersect) for all in (encoded, drawn, boxed) for intersect in (False, True)]
        arrays = [
            package.decode(text),
            package.decode(encoded[0]),
            package.decode(drawn),
            package.area(encoded),
            numpy.array(package.area(encoded[0])),
            package.toBbox(drawn),
            package.toBbox(drawn[0]),
            package.iou(encoded, drawn, crowd),
            package.iou(boxes, boxes[::-1].copy(), crowd),
            package.iou(boxes.tolist(), boxes.tolist(), crowd),
            package.iou([counts], [encoded[0]], [0]),
        ]
        return lists, merged, arrays

    mine, expected = everything(mask), everything(theirs)
    assert mine[:2] == expected[:2]
    for array, other in zip(mine[2], expected[2]):
        assert numpy.array_equal(array, other)
        assert (array.dtype, array.shape, array.flags.f_contiguous) == (other.dtype, other.shape, other.flags.f_contiguous)
