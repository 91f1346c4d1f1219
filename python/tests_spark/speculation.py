"""Scores on a cluster whose workers are hosts of their own, as Spark repeats slow tasks on another host only."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyspark
from cases import KINDS, RECORDS
from pyspark.sql import SparkSession

import metric_suite.spark as spark

HOME = str(Path(pyspark.__file__).parent)


def _slow(folder, seconds):
    """Returns what waits in the first attempt at partition 0, and notes the attempts."""

    def wait(batches):
        import time
        from pathlib import Path

        from pyspark import TaskContext

        context = TaskContext.get()
        if context.partitionId() == 0:
            (Path(folder) / f"attempt-{context.attemptNumber()}").touch()
            if context.attemptNumber() == 0:
                time.sleep(seconds)
        yield from batches

    return wait


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _waits_for(port, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master did not start")


def main(names, folder):
    variables = {**os.environ, "SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1"}
    variables.pop("SPARK_LOCAL_IP", None)
    os.environ.update(SPARK_HOME=HOME, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"

    def start(kind, *words, host):
        command = [f"{HOME}/bin/spark-class", f"org.apache.spark.deploy.{kind}", "--host", host, "--webui-port", "0", *words]
        log = open(Path(folder) / f"{kind}-{host}.log", "w")
        return subprocess.Popen(command, env={**variables, "SPARK_LOCAL_IP": host}, stdout=log, stderr=log)

    started = [start("master.Master", "--port", str(port), host="127.0.0.1")]
    try:
        _waits_for(port)
        for host in ("127.0.0.1", "127.0.0.2"):
            work = str(Path(folder) / f"work-{host}")
            started.append(start("worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", work, address, host=host))
        builder = SparkSession.builder.master(address)
        for name, value in {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "1g",
            "spark.cores.max": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.5",
            "spark.sql.shuffle.partitions": "4",
            "spark.ui.enabled": "false",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        for name in names:
            case = RECORDS[name]
            own = Path(folder) / name
            own.mkdir()
            frame = case.frame(session)
            slow = frame.repartition(6).mapInArrow(_slow(str(own), 120), frame.schema)
            options = {"confidence": 0.95, "resamples": 40}
            begin = time.monotonic()
            [row] = spark.state(slow, case.metric, **case.arguments, **options, by="topic", check_ids=False).collect()
            assert bytes(row["state"]) == case.expected(**options, slice_field="topic").to_bytes(), name
            assert (own / "attempt-1").exists(), f"{name}: no task ran twice"
            assert time.monotonic() - begin < 120, name
            print(name, flush=True)
        session.stop()
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(RECORDS if "--full" in sys.argv else KINDS, folder)
