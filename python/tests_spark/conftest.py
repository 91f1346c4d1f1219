"""A session with two executors, each a process of its own, which only this machine can reach."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyspark
import pytest

_HOME = str(Path(pyspark.__file__).parent)
os.environ.update(
    SPARK_HOME=_HOME,
    SPARK_LOCAL_IP="127.0.0.1",
    PYSPARK_PYTHON=sys.executable,
    PYSPARK_DRIVER_PYTHON=sys.executable,
)


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="every metric in every way")


@pytest.fixture(scope="session")
def full(request):
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.executorEnv.SPARK_HOME": _HOME,
        "spark.local.dir": str(folder),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("metric-suite")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
