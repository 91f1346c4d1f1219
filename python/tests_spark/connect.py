"""Scores through Spark Connect, and prints the states of one process and of Spark."""

import os
import sys

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

from cases import KINDS, RECORDS
from pyspark.sql import SparkSession

import metric_suite.spark as spark

session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "4")
assert "connect" in type(session).__module__
for name in RECORDS if "--full" in sys.argv else KINDS:
    case = RECORDS[name]
    options = {**case.arguments, "confidence": 0.95, "resamples": 40, "by": "topic"}
    expected = case.expected(confidence=0.95, resamples=40, slice_field="topic")
    frame = case.frame(session).repartition(3)
    [row] = spark.state(frame, case.metric, **options).collect()
    assert bytes(row["state"]) == expected.to_bytes(), name
    result = spark.score(frame.drop("prediction"), case.metric, frame.select("id", "prediction"), **options)
    assert result.to_json() == expected.compute().to_json(), name
    print(name)
session.stop()
