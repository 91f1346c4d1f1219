"""Label maps and panoptic segments as pictures by path, or by the bytes of a file."""

import io
import struct
import zlib
from pathlib import Path

import numpy
import pandas
import polars
import pyarrow
import pytest

import metric_suite
from metric_suite import MetricError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RNG = numpy.random.default_rng(11)
LABELS = RNG.integers(0, 4, (3, 5, 6)).astype("uint8")
FOUND = numpy.where(RNG.random((3, 5, 6)) < 0.7, LABELS, 0).astype("uint8")
EXPECTED = metric_suite.segmentation(predictions=FOUND, references=LABELS, classes=4)


def png(samples):
    """A PNG file of gray, or of RGB if there are three channels."""
    height, width, *channels = samples.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels else 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in samples)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def npy(labels):
    file = io.BytesIO()
    numpy.save(file, labels)
    return file.getvalue()


@pytest.fixture
def paths(tmp_path):
    """The paths of the predictions and of the references: the second of each is of NumPy."""
    sides = []
    for side, maps in (("found", FOUND), ("labels", LABELS)):
        folder = tmp_path / side
        folder.mkdir()
        files = [folder / "0.png", folder / "1.npy", folder / "2.png"]
        for index, (file, labels) in enumerate(zip(files, maps)):
            file.write_bytes(npy(labels) if index == 1 else png(labels))
        sides.append(files)
    return sides


def _contents(paths):
    return [path.read_bytes() for path in paths]


def _texts(paths):
    return [str(path) for path in paths]


FORMS = {
    "paths": lambda paths: paths,
    "tuple of paths": tuple,
    "strings": _texts,
    "bytes": _contents,
    "bytearrays": lambda paths: [bytearray(content) for content in _contents(paths)],
    "generator": lambda paths: iter(_contents(paths)),
    "mixed": lambda paths: [str(paths[0]), paths[1].read_bytes(), paths[2]],
    "pandas strings": lambda paths: pandas.Series(_texts(paths), index=[7, 8, 9]),
    "pandas bytes": lambda paths: pandas.Series(_contents(paths)),
    "pandas paths": lambda paths: pandas.Series(paths),
    "polars strings": lambda paths: polars.Series(_texts(paths)),
    "polars bytes": lambda paths: polars.Series(_contents(paths)),
    "arrow strings": lambda paths: pyarrow.array(_texts(paths)),
    "arrow bytes": lambda paths: pyarrow.array(_contents(paths)),
    "arrow large bytes": lambda paths: pyarrow.array(_contents(paths), pyarrow.large_binary()),
    "arrow chunks": lambda paths: pyarrow.chunked_array([_contents(paths[:1]), _contents(paths[1:])]),
    "objects of numpy": lambda paths: numpy.array(_contents(paths), dtype=object),
}


@pytest.mark.parametrize("form", FORMS)
def test_label_maps_by_path_and_by_their_bytes(form, paths):
    found, labels = (FORMS[form](side) for side in paths)
    assert metric_suite.segmentation(predictions=found, references=labels, classes=4) == EXPECTED


def test_sides_may_have_different_forms(paths):
    for name in FORMS:
        assert metric_suite.segmentation(predictions=FORMS[name](paths[0]), references=LABELS, classes=4) == EXPECTED
    arrays = [LABELS[0], paths[1][1], LABELS[2].tolist()]
    assert metric_suite.segmentation(predictions=paths[0], references=arrays, classes=4) == EXPECTED


def test_batches_ids_and_comparisons(paths):
    metric = metric_suite.Segmentation(classes=4)
    for prediction, reference in zip(*paths):
        metric.update([prediction.read_bytes()], [str(reference)])
    assert metric.compute() == EXPECTED
    names = ["a", "b", "c"]
    for form in ("strings", "paths", "bytes", "mixed"):
        found, labels = (dict(zip(names, FORMS[form](side))) for side in paths)
        turned = dict(reversed(found.items()))
        result = metric_suite.segmentation(predictions=turned, references=labels, classes=4, samples=True)
        assert result == EXPECTED
        assert result.samples["id"] == names
    compared = metric_suite.compare("segmentation", references=paths[1], predictions={"all": paths[1], "some": _contents(paths[0])}, classes=4)
    expected = metric_suite.compare("segmentation", references=LABELS, predictions={"all": LABELS, "some": FOUND}, classes=4)
    assert compared["systems"] == expected["systems"]


def test_one_path_is_a_file_and_a_list_of_others_are_records(paths, tmp_path):
    one = metric_suite.segmentation(predictions=paths[0][0], references=paths[1][0], classes=4)
    assert one == metric_suite.segmentation(predictions=FOUND[:1], references=LABELS[:1], classes=4)
    folders = metric_suite.segmentation(predictions=paths[0][0].parent, references=paths[1][0].parent, classes=4)
    assert folders == EXPECTED
    for name, key, maps in (("r.jsonl", "reference", LABELS), ("p.jsonl", "prediction", FOUND)):
        lines = [f'{{"id": {index}, "{key}": {labels.tolist()}}}' for index, labels in enumerate(maps)]
        (tmp_path / name).write_text("\n".join(lines))
    assert metric_suite.segmentation(predictions=[tmp_path / "p.jsonl"], references=[tmp_path / "r.jsonl"], classes=4) == EXPECTED


def test_paths_are_relative_to_the_working_directory(paths, monkeypatch):
    monkeypatch.chdir(paths[0][0].parent.parent)
    found, labels = ([str(path.relative_to(Path.cwd())) for path in side] for side in paths)
    assert metric_suite.segmentation(predictions=found, references=labels, classes=4) == EXPECTED


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda path: str(path.with_name("none.png")), r'predictions\[1\].*none\.png: cannot be opened'),
        (lambda path: str(path.parent), r"predictions\[1\].*found: is not a plain file"),
        (lambda path: str(path.with_name("0.txt")), r"predictions\[1\].*0\.txt: is neither a PNG nor a NumPy file"),
        (lambda path: png(FOUND[1])[:50], r"predictions\[1\].*is cut off: expected a complete PNG file"),
        (lambda path: png(FOUND[1][:4]), r"predictions\[1\].*has 6 x 4 pixels: expected 6 x 5"),
        (lambda path: npy(FOUND[1] / 2), r"predictions\[1\].*take the argmax"),
        (lambda path: b"", r"predictions\[1\].*neither a PNG nor a NumPy file"),
        (lambda path: None, r"predictions\[1\]"),
    ],
)
def test_errors_name_the_row_and_the_path(wrong, expected, paths):
    paths[0][0].with_name("0.txt").write_text("text")
    found = [paths[0][0], wrong(paths[0][1]), paths[0][2]]
    with pytest.raises(MetricError, match=expected) as caught:
        metric_suite.segmentation(predictions=found, references=LABELS, classes=4)
    assert (caught.value.index, caught.value.side) == (1, "prediction")


def test_a_damaged_file_is_named(paths):
    content = paths[1][2].read_bytes()
    paths[1][2].write_bytes(content[:-20])
    with pytest.raises(MetricError, match=r"references\[2\].*2\.png.*is cut off") as caught:
        metric_suite.segmentation(predictions=FOUND, references=_texts(paths[1]), classes=4)
    assert caught.value.side == "reference"
    # A label beyond the classes, too.
    paths[1][2].write_bytes(png(LABELS[2] + 9))
    with pytest.raises(MetricError, match=r"references\[2\].*2\.png.*label"):
        metric_suite.segmentation(predictions=FOUND, references=_texts(paths[1]), classes=4)


def test_paths_in_files_stay_below_the_folder_of_the_file(paths, tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    for name, key, path in (("r.jsonl", "reference", paths[1][0]), ("p.jsonl", "prediction", paths[0][0])):
        (folder / name).write_text(f'{{"id": 1, "{key}": "{path}"}}')
    with pytest.raises(MetricError, match="leads out of the folder"):
        metric_suite.segmentation(predictions=folder / "p.jsonl", references=folder / "r.jsonl", classes=4)


def test_other_metrics_take_no_bytes():
    with pytest.raises(MetricError, match=r"found bytes"):
        metric_suite.wer(predictions=[b"a"], references=["a"])
    with pytest.raises(MetricError, match="expected a string, found bytes"):
        metric_suite.wer(predictions=pyarrow.array([b"a"]), references=["a"])


def test_further_data_in_a_picture_are_a_warning():
    files = [png(LABELS[0]) + b"more", png(LABELS[1])]
    with pytest.warns(UserWarning, match="1 image has a file with further data"):
        result = metric_suite.segmentation(predictions=LABELS[:2], references=files, classes=4)
    assert result["mIoU"] == 1


IDS = [numpy.array([[1, 1, 258], [1, 258, 258]]), numpy.array([[5, 0, 0]])]
SEGMENTS = [[{"id": 1, "category_id": 7, "isthing": 1}, {"id": 258, "category_id": 8, "isthing": 0}], [{"id": 5, "category_id": 7}]]


def ids(labels):
    return png(numpy.stack([labels % 256, labels // 256, labels * 0], axis=2).astype("uint8"))


def _segments(pictures, name="ids"):
    return [{"segments_info": segments, name: picture} for picture, segments in zip(pictures, SEGMENTS)]


@pytest.fixture
def id_paths(tmp_path):
    files = [tmp_path / "0.png", tmp_path / "1.png"]
    for file, labels in zip(files, IDS):
        file.write_bytes(ids(labels))
    return files


def test_panoptic_segments_by_path_and_by_their_bytes(id_paths):
    expected = metric_suite.panoptic(predictions=_segments(IDS), references=_segments(IDS))
    texts, contents = _texts(id_paths), _contents(id_paths)
    sides = [
        _segments(id_paths),
        _segments(texts),
        _segments(contents),
        _segments([texts[0], contents[1]]),
        _segments([IDS[0], texts[1]]),
        _segments(texts, "file_name"),
        _segments(id_paths, "file_name"),
    ]
    for side in sides:
        assert metric_suite.panoptic(predictions=side, references=_segments(IDS)) == expected
        assert metric_suite.panoptic(predictions=side, references=side) == expected
        by_id = dict(zip("ab", side))
        assert metric_suite.panoptic(predictions=by_id, references=by_id) == expected
    for column in (pandas.Series, pyarrow.array, polars.Series):
        for side in (_segments(contents), _segments(texts)):
            assert metric_suite.panoptic(predictions=column(side), references=column(side)) == expected


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("none.png", r"predictions\[1\].*none\.png: cannot be opened"),
        (ids(IDS[1])[:40], r"predictions\[1\].*ids.*is cut off"),
        (png(IDS[1].astype("uint8")), r"predictions\[1\].*ids.*is gray of 8 bits: expected 3 or 4 channels"),
        (ids(IDS[1] + 1), r"predictions\[1\]"),
    ],
)
def test_panoptic_errors_name_the_row_and_the_path(picture, expected, id_paths):
    with pytest.raises(MetricError, match=expected) as caught:
        metric_suite.panoptic(predictions=_segments([id_paths[0], picture]), references=_segments(IDS))
    assert (caught.value.index, caught.value.side) == (1, "prediction")


def test_paths_of_segments_in_files_are_refused(id_paths, tmp_path):
    for name, key in (("r.jsonl", "reference"), ("p.jsonl", "prediction")):
        segments = str(_segments([str(id_paths[0])])[0]).replace("'", '"')
        (tmp_path / name).write_text(f'{{"id": 1, "{key}": {segments}}}')
    with pytest.raises(MetricError, match="ids"):
        metric_suite.panoptic(predictions=tmp_path / "p.jsonl", references=tmp_path / "r.jsonl")


def test_masks_are_not_compared_by_the_confusion_matrix_of_ultralytics():
    truth = {
        "images": [{"id": 1, "height": 9, "width": 9}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "area": 16, "iscrowd": 0}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "score": 0.9}]
    options = {"profile": "ultralytics", "predictions": found, "references": truth}
    assert metric_suite.confusion_matrix(**options)["f1"] == 1
    for kind in ("segm", "keypoints"):
        with pytest.raises(MetricError, match=f"iou_type=.{kind}. is for folders of text files"):
            metric_suite.confusion_matrix(**options, iou_type=kind)
