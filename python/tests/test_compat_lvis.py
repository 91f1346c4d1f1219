"""`metric_suite.compat.lvis` on golden rows of lvis 0.5.3."""

import hashlib
import json
import struct

import numpy
import pytest
from golden import rows

from metric_suite.compat import lvis as ours
from metric_suite.compat.lvis import LVIS, LVISEval, LVISResults

ROWS = rows("vision/lvis.jsonl")


def evaluated(row, kind=LVISEval, most=300):
    truth = LVIS(json.loads(row["gt"]))
    found = LVISResults(truth, json.loads(row["dt"]), max_dets=most)
    evaluation = kind(truth, found, row["expected"]["iou_type"])
    evaluation.params.max_dets = most
    evaluation.run()
    return evaluation


def sha256(array):
    values = array.reshape(-1).tolist()
    return hashlib.sha256(struct.pack(f"<{len(values)}d", *values)).hexdigest()


def same(results, expected):
    assert list(results) == list(expected)
    for name, value in expected.items():
        # The last bit of a mean depends on NumPy.
        assert results[name] == pytest.approx(value, rel=3e-16, abs=0), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_results_and_arrays(row):
    evaluation = evaluated(row)
    assert evaluation._arrays is not None
    same(evaluation.get_results(), row["expected"]["results"])
    assert list(evaluation.eval["precision"].shape) == row["expected"]["shape"]
    for name, expected in row["expected"]["sha256_f64le"].items():
        assert sha256(evaluation.eval[name]) == expected, name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_steps_are_the_engine(row):
    class Steps(LVISEval):
        def compute_iou(self, img_id, cat_id):
            return super().compute_iou(img_id, cat_id)

    by_steps, by_engine = evaluated(row, Steps), evaluated(row)
    assert by_steps._arrays is None
    for name in ("precision", "recall"):
        assert numpy.array_equal(by_steps.eval[name], by_engine.eval[name]), name


def test_other_caps():
    row = next(row for row in ROWS if row["id"] == "box_over_300")
    same(evaluated(row, most=-1).get_results(), row["expected"]["uncapped"])
    same(evaluated(row, most=20).get_results(), row["expected"]["cap_20"])


def test_what_is_filled_when_it_is_read():
    row = next(row for row in ROWS if row["id"] == "box_random")
    evaluation = evaluated(row)
    p = evaluation.params
    assert len(evaluation.eval_imgs) == len(p.cat_ids) * len(p.area_rng) * len(p.img_ids)
    pointers = evaluation.eval["dt_pointers"]
    recall = evaluation.eval["recall"]
    for category in range(len(p.cat_ids)):
        found = pointers[category][0]
        if not found:
            assert recall[0, category, 0] == -1
            continue
        counted = [one for one in evaluation.eval_imgs if one and one["category_id"] == p.cat_ids[category]]
        counted = [one for one in counted if one["area_rng"] == p.area_rng[0]]
        positives = sum(int((one["gt_ignore"] == 0).sum()) for one in counted)
        assert found["tps"].sum(axis=1)[0] / positives == recall[0, category, 0]
        assert found["tps"].shape == found["fps"].shape == (10, len(found["dt_ids"]))


def test_the_results_of_the_caller_stay(tmp_path):
    row = ROWS[0]
    found = json.loads(row["dt"])
    paths = {name: tmp_path / f"{name}.json" for name in ("gt", "dt")}
    for name, path in paths.items():
        path.write_text(row[name])
    evaluation = LVISEval(str(paths["gt"]), found, "bbox")
    evaluation.run()
    assert found == json.loads(row["dt"])
    of_files = LVISEval(str(paths["gt"]), str(paths["dt"]), "bbox")
    of_files.run()
    assert of_files.get_results() == evaluation.get_results()


def test_faults(capsys):
    row = ROWS[0]
    truth = LVIS(json.loads(row["gt"]))
    with pytest.raises(AssertionError, match="lacks"):
        LVISResults(truth, [{"image_id": "none", "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}])
    with pytest.raises(ValueError, match="keypoints"):
        LVISEval(truth, [], "keypoints")
    with pytest.raises(TypeError):
        LVISEval(truth, 1, "bbox")
    evaluation = evaluated(row)
    evaluation.print_results()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert lines[0].startswith(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=300 catIds=all] = ")
    assert "catIds=  r]" in lines[6]
    # Without categories everything is undefined, as in lvis.
    evaluation.params.use_cats = 0
    evaluation.run()
    assert evaluation.get_results()["AP"] == -1


def test_install():
    import sys

    ours.install()
    try:
        from lvis import LVIS as installed
        from lvis.eval import LVISEval as evaluation
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "lvis"]:
            del sys.modules[name]
    assert installed is LVIS and evaluation is LVISEval


def test_queries():
    truth = LVIS(json.loads(ROWS[0]["gt"]))
    annotation = truth.dataset["annotations"][0]
    image, category = annotation["image_id"], annotation["category_id"]
    assert annotation["id"] in truth.get_ann_ids(img_ids=[image], cat_ids=[category])
    assert truth.get_ann_ids(img_ids=[image], cat_ids=[category], area_rng=[0, 1e-9]) == []
    assert truth.load_anns([annotation["id"]]) == [annotation]
    assert len(truth.load_imgs(None)) == len(truth.get_img_ids())
    assert truth.load_cats([category])[0]["id"] == category
