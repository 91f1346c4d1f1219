"""Every metric gives the bytes of one process, however its data are divided."""

from __future__ import annotations

import json
import threading
import time

import pytest
from cases import KINDS, RECORDS, object_frames, objects
from executors import executors, kill_one
from pyspark.sql import functions

import metric_suite
import metric_suite.spark as spark

_STATISTICS = {"confidence": 0.95, "resamples": 40, "seed": 5}
_OBJECT_METRICS = ["coco", "lvis", "voc", "tide", "confusion-matrix", "detection", "ultralytics"]


def written(frame) -> dict[str, bytes]:
    return {row["metric"]: bytes(row["state"]) for row in frame.collect()}


def check(case, frame, predictions=None, **options):
    """Compares the state of a frame and its result with those of one process."""
    expected = case.expected(**_STATISTICS, slice_field="topic")
    state = written(spark.state(frame, case.metric, predictions, **case.arguments, **_STATISTICS, by="topic", **options))
    assert state == {case.metric: expected.to_bytes()}
    result = metric_suite.Metric.from_bytes(state[case.metric]).compute()
    assert result.to_json() == expected.compute().to_json()
    assert result.intervals and result.groups["topic"]


def chosen(request):
    return list(RECORDS) if request.config.getoption("--full") else list(KINDS)


@pytest.mark.parametrize("name", RECORDS)
def test_partitions(session, name):
    case = RECORDS[name]
    frame = case.frame(session)
    for partitions in (1, 3, 17):
        check(case, frame.repartition(partitions), check_ids=False)


def test_predictions_alone(session):
    samples = [[place % 3 == 0, place % 5 != 0, place % 2 == 1] for place in range(40)]
    frame = session.createDataFrame(list(zip(map(str, range(40)), samples)), "id string, prediction array<boolean>")
    expected = metric_suite.pass_at_k(predictions=samples, k=[1, 2])
    for partitions in (1, 3, 17):
        found = spark.score(frame.repartition(partitions), "pass-at-k", k=[1, 2])
        assert found.to_json() == expected.to_json()
    for type_, grades in [("boolean", [place % 3 == 0 for place in range(40)]), ("double", [place / 7 for place in range(40)])]:
        frame = session.createDataFrame(list(zip(map(str, range(40)), grades)), f"id string, prediction {type_}")
        found = spark.score(frame.repartition(3), "mean")
        assert found.to_json() == metric_suite.mean(predictions=grades).to_json()


def test_every_metric_is_tested():
    tested = {case.metric for case in RECORDS.values()} | set(_OBJECT_METRICS) | {"pass-at-k", "mean"}
    assert tested == {metric.name for metric in metric_suite.metrics()}


def test_objects_by_rows(session):
    truth, found = objects()
    frames = object_frames(session, truth, found)
    names = {entry["id"]: entry["name"] for entry in truth["categories"]}
    for partitions in (1, 3, 17):
        references, predictions, images = (frame.repartition(partitions) for frame in frames)
        states = written(
            spark.state(references, _OBJECT_METRICS, predictions, images=images, categories=names, order="position", **_STATISTICS)
        )
        for metric in _OBJECT_METRICS:
            expected = metric_suite.Metric(metric, **_STATISTICS).update(found, truth)
            assert states[metric] == expected.to_bytes(), metric


def test_objects_without_an_order(session):
    """Detections of equal scores are ordered by what they are, so that partitions do not matter."""
    truth, found = objects(seed=4)
    references, predictions, images = object_frames(session, truth, found)
    predictions = predictions.drop("position")
    results = {
        tuple(
            result.to_json()
            for result in spark.score(
                references.repartition(partitions), ["coco", "voc"], predictions.repartition(partitions), images=images
            ).values()
        )
        for partitions in (1, 3, 17)
    }
    assert len(results) == 1


def test_masks_and_keypoints(session):
    truth, found = objects(images=6)
    for row in (*truth["annotations"], *found):
        x, y, w, h = row["bbox"]
        row["segmentation"] = [[x, y, x + w, y, x + w, y + h, x, y + h]]
        row["keypoints"] = [number for place in range(17) for number in (x + place, y + place, 2.0)]
    for row in truth["annotations"]:
        row["num_keypoints"] = 17
    shape = "bbox array<double>, segmentation array<array<double>>, keypoints array<double>"
    names = ["image_id", "category_id", "bbox", "segmentation", "keypoints"]
    references = session.createDataFrame(
        [tuple(row[name] for name in (*names, "id", "area", "iscrowd", "num_keypoints")) for row in truth["annotations"]],
        f"image_id int, category_id int, {shape}, id int, area double, iscrowd int, num_keypoints int",
    )
    predictions = session.createDataFrame(
        [(*(row[name] for name in names), row["score"], place) for place, row in enumerate(found)],
        f"image_id int, category_id int, {shape}, score double, position int",
    )
    images = session.createDataFrame([(image["id"], 400, 400) for image in truth["images"]], "id int, width int, height int")
    categories = {entry["id"]: entry["name"] for entry in truth["categories"]}
    for kind in ("segm", "keypoints"):
        result = spark.score(
            references, "coco", predictions, images=images, categories=categories, order="position", iou_type=kind
        )
        expected = metric_suite.coco(predictions=found, references=truth, iou_type=kind)
        assert result.to_json() == expected.to_json()
        assert result["AP"]


def test_skew_and_empty_partitions(session, request):
    for name in chosen(request):
        case = RECORDS[name]
        frame = case.frame(session)
        # Nine of ten rows are in one partition, and most of the others are empty.
        place = functions.when(functions.substring("id", -1, 1) != "0", 0).otherwise(functions.hash("id"))
        check(case, frame.repartition(9, place), check_ids=False)


def test_frames_that_are_joined(session, request):
    for name in chosen(request):
        case = RECORDS[name]
        frame = case.frame(session)
        predictions = frame.select(functions.col("id").alias("key"), "prediction").orderBy(functions.rand(1))
        check(case, frame.drop("prediction"), predictions, id="id", predictions_id="key", buckets=5)


def _slow(folder, seconds: float):
    """Returns what waits in the first attempt at partition 0, and says which attempts there were."""

    def wait(batches):
        from pathlib import Path

        from pyspark import TaskContext

        context = TaskContext.get()
        if context.partitionId() == 0:
            (Path(folder) / f"attempt-{context.attemptNumber()}").touch()
            if context.attemptNumber() == 0:
                time.sleep(seconds)
        yield from batches

    return wait


def test_an_executor_that_is_killed(session, request, tmp_path):
    for name in chosen(request):
        case = RECORDS[name]
        folder = tmp_path / name
        folder.mkdir()
        frame = case.frame(session)
        slow = frame.repartition(4).mapInArrow(_slow(str(folder), 30), frame.schema)
        killed = []

        def kill():
            while not (folder / "attempt-0").exists():
                time.sleep(0.1)
            killed.append(kill_one())

        thread = threading.Thread(target=kill)
        thread.start()
        check(case, slow, check_ids=False)
        thread.join()
        # The other executor goes on, or the first one's successor.
        assert killed and killed[0] not in executors()


def test_several_metrics_and_samples(session):
    case = RECORDS["wer"]
    frame = case.frame(session).repartition(3)
    found = spark.score(frame, {"wer": {}, "lower": {"metric": "cer", "normalize": ["lower"]}, "exact-match": {}})
    assert list(found) == ["wer", "lower", "exact-match"]
    assert found["wer"].to_json() == case.expected().compute().to_json()
    assert found["lower"].signature == metric_suite.CER(normalize=["lower"]).signature
    references, predictions = zip(*case.rows)
    expected = metric_suite.wer(references=references, predictions=predictions, ids=case.ids, samples=True).samples
    rows = {row["id"]: row for row in spark.samples(frame, "wer").collect()}
    assert sorted(rows) == sorted(case.ids)
    for place, id in enumerate(case.ids):
        assert rows[id]["scores"]["wer"] == expected["wer"][place]
        assert json.loads(rows[id]["counts"])["hits"] == expected["hits"][place]


def test_a_comparison(session):
    case = RECORDS["anls"]
    references, predictions = (list(side) for side in zip(*case.rows))
    other = [text[::-1] for text in predictions]
    expected = metric_suite.compare(
        "anls", references=references, predictions={"ours": predictions, "other": other}, ids=case.ids, **_STATISTICS
    )
    frame = case.frame(session).withColumn("reversed", functions.reverse("prediction")).repartition(5)
    assert spark.compare(frame, "anls", {"ours": "prediction", "other": "reversed"}, **_STATISTICS) == expected
    frames = {
        "ours": frame.select("id", "prediction"),
        "other": frame.select("id", functions.col("reversed").alias("prediction")),
    }
    assert spark.compare(frame.select("id", "reference"), "anls", frames, **_STATISTICS) == expected


@pytest.mark.parametrize("lacking", [(range(3), range(2, 7)), (range(3), range(3)), ((), (5,))])
def test_a_comparison_of_systems_with_gaps(session, lacking):
    """References that a system has no prediction for are left out of all systems, as in one process."""
    case = RECORDS["wer"]
    references, predictions = (dict(zip(case.ids, side)) for side in zip(*case.rows))
    systems = {
        name: {id: text for place, (id, text) in enumerate(predictions.items()) if place not in left_out}
        for name, left_out in zip(("ours", "other"), lacking)
    }
    systems["other"]["unknown"] = "a text"
    options = {**_STATISTICS, "missing": "skip", "extra": "ignore"}
    expected = metric_suite.compare("wer", references=references, predictions=systems, **options)
    counts = [len(left_out) for left_out in lacking]
    assert [system["missing"] for system in expected["systems"]] == counts
    frame = session.createDataFrame(list(references.items()), "id string, reference string").repartition(3)
    frames = {name: session.createDataFrame(list(rows.items()), "id string, prediction string") for name, rows in systems.items()}
    assert spark.compare(frame, "wer", frames, **options) == expected
    with pytest.raises(metric_suite.MetricError, match=r"""no reference for 1 prediction of predictions\['other'\]: id "unknown\""""):
        spark.compare(frame, "wer", frames, **{**options, "extra": "error"})


def test_a_comparison_of_columns_with_a_frame_with_gaps(session):
    case = RECORDS["anls"]
    references, predictions = (list(side) for side in zip(*case.rows))
    frame = case.frame(session)
    frames = {"ours": "prediction", "other": frame.where("id > 'id-0003'").select("id", "prediction")}
    found = spark.compare(frame, "anls", frames, **_STATISTICS, missing="skip")
    expected = metric_suite.compare(
        "anls",
        references=references[4:],
        predictions={"ours": predictions[4:], "other": predictions[4:]},
        ids=case.ids[4:],
        **_STATISTICS,
    )
    assert found["comparisons"] == expected["comparisons"]
    assert [system["missing"] for system in found["systems"]] == [0, 4]
    assert found["examples"] == len(case.ids) - 4
