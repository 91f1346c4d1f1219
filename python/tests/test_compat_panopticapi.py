"""`metric_suite.compat.panopticapi` on data sets scored by panopticapi 7bb4655."""

import json
import sys

import pytest
from golden import rows

import metric_suite
from metric_suite.compat import panopticapi
from metric_suite.compat.panopticapi import evaluation, utils

ROWS = [row for row in rows("segmentation/panoptic.jsonl") if row["counts"] is not None]


@pytest.fixture
def files(request, tmp_path):
    """The files of a row in a folder."""
    row = request.param
    for side in ("gt", "pred"):
        (tmp_path / side).mkdir()
        (tmp_path / f"{side}.json").write_text(json.dumps(row[side]))
    for name, content in row["files"].items():
        (tmp_path / name).write_bytes(bytes.fromhex(content))
    return row, tmp_path


@pytest.mark.parametrize("files", ROWS, indirect=True, ids=lambda row: row["id"])
def test_files(files, capsys):
    row, folder = files
    paths = folder / "gt.json", folder / "pred.json"
    if "error" in row["single"]:
        if row["single"]["error"] == "ZeroDivisionError":
            with pytest.raises(ZeroDivisionError):
                evaluation.pq_compute(*paths)
            assert evaluation.pq_compute(*paths, strict=False)["All"].keys() == {"pq", "sq", "rq", "n"}
        return
    found = evaluation.pq_compute(*paths, folder / "gt", folder / "pred")
    for kind in ("All", "Things", "Stuff"):
        assert found[kind] == pytest.approx(row["single"][kind], rel=0, abs=1e-12)
    assert found["per_class"].keys() == {int(label) for label in row["single"]["per_class"]}
    for label, expected in row["single"]["per_class"].items():
        assert found["per_class"][int(label)] == pytest.approx(expected, rel=0, abs=1e-12)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "          |    PQ     SQ     RQ     N"
    assert lines[2].startswith(f"All       | {100 * found['All']['pq']:5.1f}  ")


@pytest.mark.parametrize("files", [row for row in ROWS if row["id"] == "random"], indirect=True, ids=lambda row: row["id"])
def test_annotations(files):
    row, folder = files
    predicted = {annotation["image_id"]: annotation for annotation in row["pred"]["annotations"]}
    pairs = [(annotation, predicted[annotation["image_id"]]) for annotation in row["gt"]["annotations"]]
    categories = {category["id"]: category for category in row["gt"]["categories"]}
    several = evaluation.pq_compute_multi_core(pairs, folder / "gt", folder / "pred", categories)
    parts = evaluation.PQStat()
    for index, pair in enumerate(pairs):
        parts += evaluation.pq_compute_single_core(index, [pair], folder / "gt", folder / "pred", categories)
    for label, expected in row["counts"].items():
        for stat in (several, parts):
            counts = stat[int(label)]
            assert (counts.tp, counts.fp, counts.fn) == (expected["tp"], expected["fp"], expected["fn"])
            assert counts.iou == pytest.approx(expected["iou"], rel=0, abs=1e-12)
    means, per_class = several.pq_average(categories, None)
    assert means == pytest.approx(row["single"]["All"], rel=0, abs=1e-12)
    assert len(per_class) == len(categories)


def test_ids():
    numpy = pytest.importorskip("numpy")
    ids = numpy.array([[1, 256, 70000], [0, 65536, 16777215]])
    colors = utils.id2rgb(ids)
    assert colors.dtype == numpy.uint8 and colors.shape == (2, 3, 3)
    assert (utils.rgb2id(colors) == ids).all()
    assert [utils.id2rgb(number) for number in (256, 16777215)] == [[0, 1, 0], [255, 255, 255]]
    generator = utils.IdGenerator({1: {"color": [0, 0, 0], "isthing": 1}, 2: {"color": [9, 9, 9], "isthing": 0}})
    found = {generator.get_id(1) for _ in range(50)}
    assert len(found) == 50 and 0 not in found
    assert generator.get_id_and_color(2) == (utils.rgb2id([9, 9, 9]), [9, 9, 9])


def test_install(monkeypatch, tmp_path):
    for name in ("panopticapi", "panopticapi.evaluation", "panopticapi.utils"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    panopticapi.install()
    from panopticapi.utils import save_json

    save_json({"a": 1}, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": 1}
    for name in ("panopticapi", "panopticapi.evaluation", "panopticapi.utils"):
        sys.modules.pop(name, None)


def test_records():
    segments = [{"id": 1, "category_id": 1, "isthing": 1}, {"id": 2, "category_id": 2, "isthing": 0}]
    truth = {"ids": [[1, 1, 1, 2]], "segments_info": segments}
    found = {"ids": [[1, 1, 2, 2]], "segments_info": segments}
    scores = metric_suite.panoptic(predictions=[found], references=[truth])
    # IoU of 2/3, and of 1/2, which is no match.
    assert scores["PQ_things"] == 2 / 3 and scores["PQ_stuff"] == 0.0
