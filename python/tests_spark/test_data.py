"""Problems of the data are described in words, and streams have a running score."""

from __future__ import annotations

import json

import pytest
from cases import RECORDS
from pyspark.sql import functions

import metric_suite
import metric_suite.spark as spark
from metric_suite import MetricError

_SCHEMA = "id bigint, reference array<int>, prediction array<int>"


def _texts(session, ids, column):
    return session.createDataFrame([(id, f"text {id}") for id in ids], f"id bigint, {column} string")


def test_a_bad_record(session):
    rows = [(id, str(id), str(id)) for id in range(200)]
    rows[137] = (137, "x", None)
    frame = session.createDataFrame(rows, "id bigint, reference string, prediction string").repartition(17)
    with pytest.raises(MetricError, match='predictions: id "137": expected a string, found null') as caught:
        spark.score(frame, "wer")
    assert (caught.value.id, caught.value.side) == ("137", "prediction")
    # Frames that are made later fail with the same words.
    for late in (spark.state(frame, "wer"), spark.samples(frame, "wer")):
        with pytest.raises(Exception, match='predictions: id "137": expected a string, found null'):
            late.collect()
    # Without ids, rows have partitions.
    with pytest.raises(MetricError, match="predictions: partition [0-9]+, row [0-9]+: expected a string, found null"):
        spark.score(frame.drop("id"), "wer")


def test_ids_that_do_not_join(session):
    references, predictions = _texts(session, range(100), "reference"), _texts(session, range(7, 109), "prediction")
    with pytest.raises(MetricError) as caught:
        spark.score(references, "wer", predictions)
    assert str(caught.value) == (
        'predictions: no prediction for 7 references of references: ids "0", "1", "2", "3", "4", ...; '
        'to score them against empty predictions, use missing="empty"; to leave them out, use missing="skip"\n'
        'references: no reference for 9 predictions of predictions: ids "100", "101", "102", "103", "104", ...; '
        'to leave them out, use extra="ignore"'
    )
    for missing, examples in (("empty", 100), ("skip", 93)):
        with pytest.warns(UserWarning, match="7 references have no prediction"):
            result = spark.score(references, "wer", predictions, missing=missing, extra="ignore")
        assert (result.examples, result.missing) == (examples, 7)
        mine = {id: f"text {id}" for id in range(100)}
        theirs = {id: f"text {id}" for id in range(7, 109)}
        with pytest.warns(UserWarning):
            expected = metric_suite.score("wer", references=mine, predictions=theirs, missing=missing, extra="ignore")
        assert result.to_json() == expected.to_json()
    twice = predictions.unionAll(_texts(session, [8, 9], "prediction"))
    with pytest.raises(MetricError, match='predictions: duplicate id "8"; 2 ids in all are duplicates, among them "9"'):
        spark.score(references, "wer", twice)
    texts = predictions.withColumn("id", functions.col("id").cast("string"))
    assert spark.score(references.where("id >= 7"), "wer", texts, extra="ignore").examples == 93


def test_ids_of_one_frame(session):
    frame = RECORDS["wer"].frame(session)
    with pytest.raises(MetricError, match='the frame: duplicate id "id-0001"'):
        spark.score(frame.unionAll(frame.where("id = 'id-0001'")), "wer")
    with pytest.raises(MetricError, match="the id of a row is null"):
        spark.score(frame.withColumn("id", functions.lit(None).cast("string")), "wer")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("wrr", {}, "no metric"),
        ("wer", {"profil": "x"}, "wer has no option profil"),
        ("wer", {"profile": "x"}, "profile"),
        ("wer", {"prediction": "hypothesis"}, "no column 'hypothesis': expected one of id, reference"),
        ("wer", {"by": "room"}, "no column 'room'"),
        ("wer", {"threads": 3}, "each task of Spark has one thread"),
        ("wer", {"id": "topic", "by": "id", "confidence": 2}, "confidence"),
    ],
)
def test_what_is_wrong_is_known_before_a_job(session, metric, options, message):
    with pytest.raises(MetricError, match=message):
        spark.score(RECORDS["wer"].frame(session), metric, **options)


def test_intervals_need_ids(session):
    with pytest.raises(MetricError, match="intervals need ids"):
        spark.score(RECORDS["wer"].frame(session).drop("id"), "wer", confidence=0.9)


def test_frames_without_rows(session):
    with pytest.raises(MetricError, match="the frame: has no examples: expected at least one"):
        spark.score(RECORDS["wer"].frame(session).where("false"), "wer")


def test_images_that_ground_truth_lacks(session):
    box = "image_id int, category_id int, bbox array<double>"
    truth = session.createDataFrame([(1, 1, [0.0, 0.0, 9.0, 9.0])], box)
    found = session.createDataFrame([(image, 1, [0.0, 0.0, 9.0, 9.0], 0.5) for image in (1, 2, 2, 3)], f"{box}, score double")
    with pytest.raises(MetricError, match='3 detections are of images that references do not have: "2", "3"'):
        spark.score(truth, "coco", found)
    with pytest.warns(UserWarning):
        assert spark.score(truth, "coco", found, extra="ignore")["AR_100"] == 1.0
    images = session.createDataFrame([(2,), (3,)], "id int")
    with pytest.warns(UserWarning):
        assert spark.score(truth, "coco", found, images=images).examples == 3
    bad = found.withColumn("bbox", functions.slice("bbox", 1, 3))
    with pytest.raises(MetricError, match='image "[123]": bbox: found 3 numbers: expected 4'):
        spark.score(truth, "coco", bad, extra="ignore")
    of_others = functions.col("image_id") != 1
    lacking = found.withColumn("bbox", functions.when(of_others, functions.col("bbox")))
    with pytest.raises(MetricError, match='predictions: image "1": bbox: missing') as caught:
        spark.score(truth, "coco", lacking, images=images)
    assert (caught.value.side, caught.value.field) == ("prediction", "bbox")
    # A column of which nothing is left is named as such.
    lacking = found.withColumn("score", functions.when(of_others, functions.col("score")))
    with pytest.raises(MetricError, match="predictions: score has 0 values"):
        spark.score(truth, "coco", lacking, images=images)


def test_a_stream(session, tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    case = RECORDS["wer"]
    for place, (id, (reference, prediction)) in enumerate(zip(case.ids, case.rows)):
        with open(folder / f"{place % 4}.json", "a") as file:
            print(json.dumps({"id": id, "reference": reference, "prediction": prediction}), file=file)
    state = tmp_path / "wer.state"
    running = spark.Running("wer", path=state)
    stream = session.readStream.schema("id string, reference string, prediction string").option("maxFilesPerTrigger", 1)
    writer = stream.json(str(folder)).writeStream.foreachBatch(running)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    assert running.last == 3
    expected = case.expected()
    assert running.metric() == expected and running.result().to_json() == expected.compute().to_json()
    # A batch that comes again counts once, also after a new start.
    again = spark.Running("wer", path=state)
    again(case.frame(session), 3)
    assert again.metric() == expected
    again(case.frame(session), 4)
    assert again.result().examples == 2 * len(case.rows)
