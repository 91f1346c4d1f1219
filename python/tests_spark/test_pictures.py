"""Pictures on executors: by their paths, or by the bytes that Spark reads."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from pyspark.sql import functions

import metric_suite
import metric_suite.spark as spark
from metric_suite import MetricError


def png(rows, channels=1):
    """A PNG file of gray, or of RGB."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), 8, 0 if channels == 1 else 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.fixture
def maps(tmp_path):
    """For 40 images, by side: the labels, and a folder with their files."""
    random_ = random.Random(2)
    sides = {}
    for side in ("reference", "prediction"):
        labels = [[[random_.randrange(4) for _ in range(5)] for _ in range(3)] for _ in range(40)]
        folder = tmp_path / side
        folder.mkdir()
        for place, rows in enumerate(labels):
            (folder / f"{place:02}.png").write_bytes(png(rows))
        sides[side] = (labels, folder)
    return sides


def _expected(maps, **options):
    metric = metric_suite.Metric("segmentation", classes=4, **options)
    ids = [f"{place:02}" for place in range(40)]
    return metric.update(maps["prediction"][0], maps["reference"][0], ids=ids)


def _frame(session, maps, content):
    """A frame with the pictures of both sides: their bytes, or their paths."""
    rows = []
    for place in range(40):
        files = [maps[side][1] / f"{place:02}.png" for side in ("reference", "prediction")]
        rows.append((f"{place:02}", *(file.read_bytes() if content == "binary" else str(file) for file in files)))
    return session.createDataFrame(rows, f"id string, reference {content}, prediction {content}")


@pytest.mark.parametrize("content", ["string", "binary"])
def test_label_maps(session, maps, content):
    statistics = {"confidence": 0.95, "resamples": 40, "seed": 5}
    expected = _expected(maps, **statistics)
    frame = _frame(session, maps, content)
    for partitions in (1, 7):
        states = spark.state(frame.repartition(partitions), "segmentation", classes=4, **statistics).collect()
        assert [bytes(row["state"]) for row in states] == [expected.to_bytes()]
    references, predictions = frame.select("id", "reference"), frame.select("id", "prediction")
    result = spark.score(references, "segmentation", predictions, classes=4)
    assert result.to_json() == _expected(maps).compute().to_json()


def test_folders_that_spark_reads(session, maps):
    def files(side):
        found = session.read.format("binaryFile").option("pathGlobFilter", "*.png").load(str(maps[side][1]))
        return found.withColumn("id", functions.regexp_extract("path", r"([^/]+)\.png$", 1))

    expected = _expected(maps).compute().to_json()
    # The content of files, and their paths, which have a scheme.
    for column in ("content", "path"):
        references = files("reference").select("id", functions.col(column).alias("reference"))
        predictions = files("prediction").select("id", functions.col(column).alias("prediction"))
        assert spark.score(references, "segmentation", predictions, classes=4).to_json() == expected
    assert files("reference").first()["path"].startswith("file:/")


def test_pictures_that_cannot_be_read(session, maps):
    file = maps["prediction"][1] / "17.png"
    content = file.read_bytes()
    for damage, expected in ((lambda: file.write_bytes(content[:-20]), "is cut off"), (file.unlink, "cannot be opened")):
        damage()
        frame = session.createDataFrame(
            [(f"{place:02}", *(str(maps[side][1] / f"{place:02}.png") for side in ("reference", "prediction"))) for place in range(40)],
            "id string, reference string, prediction string",
        ).repartition(5)
        with pytest.raises(MetricError, match=f'predictions: id "17".*prediction/17.png: {expected}') as caught:
            spark.score(frame, "segmentation", classes=4)
        assert (caught.value.id, caught.value.side) == ("17", "prediction")


_INFOS = "array<struct<id: int, category_id: int>>"


@pytest.mark.parametrize("content", ["string", "binary"])
def test_panoptic_segments(session, tmp_path, content):
    random_ = random.Random(5)
    rows, values = [], ([], [])
    for place in range(20):
        row = [f"{place:02}"]
        for side, of_side in zip(("reference", "prediction"), values):
            labels = [random_.choice([1, 1, 2, 3]) for _ in range(8)]
            infos = [(id_, id_ % 2) for id_ in sorted(set(labels))]
            picture = png([[byte for label in labels for byte in (label, 0, 0)]], 3)
            file = tmp_path / f"{side}{place}.png"
            file.write_bytes(picture)
            row.append((picture if content == "binary" else f"file:{file}", infos))
            of_side.append({"ids": [labels], "segments_info": [{"id": id_, "category_id": category} for id_, category in infos]})
        rows.append(tuple(row))
    of_side = f"struct<ids: {content}, segments_info: {_INFOS}>"
    frame = session.createDataFrame(rows, f"id string, reference {of_side}, prediction {of_side}")
    expected = metric_suite.Metric("panoptic").update(values[1], values[0], ids=[row[0] for row in rows])
    for partitions in (1, 5):
        states = spark.state(frame.repartition(partitions), "panoptic").collect()
        assert [bytes(row["state"]) for row in states] == [expected.to_bytes()]
