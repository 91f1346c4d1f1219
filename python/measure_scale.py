"""Measures what docs/scale.md states: the cost of metrics, the sizes of their states, and how states merge.

Run it with the package built in release, in the environment of ``cargo xtask spark``:

    python measure_scale.py costs
    python measure_scale.py merges
    python measure_scale.py peers [PAIRS] [CODES] [LABELS]
    python measure_scale.py spark [PAIRS] [DETECTIONS]

The peers are jiwer, scikit-learn, and codebleu with the requirements of benches/peers/requirements/codebleu.txt, which pip
installs into that environment (the last ones with --no-deps).
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests_spark"))

import cases
import numpy

from metric_suite import Boxes, Metric, _native


def _cpu() -> float:
    return time.process_time()


def _scored(case: cases.Case, rows: int, **settings: Any) -> tuple[float, Any]:
    """Returns the seconds of one thread, and the outcome, of a case that is repeated up to a number of rows."""
    import pyarrow

    times = -(-rows // len(case.rows))
    references, predictions = (list(side) * times for side in zip(*case.rows))
    scorer = _native.Scorer(case.metric, case.options, {"threads": 1, "is_part": True, **settings})
    if all(isinstance(value, str) for value in references) and not case.is_json:
        references = pyarrow.array(references)
    if all(isinstance(value, str) for value in predictions) and not case.is_json:
        predictions = pyarrow.array(predictions)
    if case.is_json:
        references, predictions = _native.JsonTexts(references), _native.JsonTexts(predictions)
    if case.metric == "accuracy-at-k":
        predictions = numpy.array(predictions)
    ids = numpy.arange(times * len(case.rows), dtype="int64")
    best, outcome = float("inf"), None
    for _ in range(2):
        start = _cpu()
        outcome = scorer.score_values(predictions, references, ids, {})
        best = min(best, _cpu() - start)
    return best * 1e6 / (times * len(case.rows)), outcome


def _detections(count: int, seed: int = 0) -> tuple[Boxes, Boxes]:
    """Ground truth and detections, ten of each per image, in 80 classes."""
    random = numpy.random.default_rng(seed)
    image = numpy.arange(count) // 10 + seed * count
    category = random.integers(0, 80, count)
    box = random.uniform(5, 300, (count, 4))
    truth = Boxes(image=image, category=category, box=box, categories={key: f"class {key}" for key in range(80)})
    found = Boxes(image=image, category=category, box=box + random.normal(0, 8, (count, 4)), score=random.uniform(0, 1, count))
    found.box = numpy.abs(found.box) + 1
    return truth, found


def costs() -> None:
    print("| metric | seconds per million records | bytes of state | with intervals, bytes per record |\n|---|---|---|---|")
    for name, case in cases.RECORDS.items():
        rows = 200 if case.metric in ("openlane", "lanes") else 2_000 if case.metric == "codebleu" else 20_000
        seconds, outcome = _scored(case, rows)
        _, kept = _scored(case, min(rows, 5_000), resamples=100)
        records = int(json_of(kept)["examples"])
        print(f"| {name} | {seconds:.2f} | {len(outcome.to_bytes())} per {rows:,} | {len(kept.to_bytes()) / max(records, 1):.0f} |", flush=True)
    truth, found = _detections(50_000)
    for metric in ("coco", "voc", "tide", "confusion-matrix", "detection"):
        scorer = _native.Scorer(metric, {}, {"threads": 1, "is_part": True})
        start = _cpu()
        outcome = scorer.score_documents(found._columns(), truth._columns())
        seconds = (_cpu() - start) * 1e6 / 50_000
        print(f"| {metric} | {seconds:.2f} | {len(outcome.to_bytes())} per 50,000 | |", flush=True)


def json_of(outcome: Any) -> Any:
    import json

    return json.loads(outcome.to_json())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _merged(states: list[bytes]) -> tuple[float, bytes]:
    start = _cpu()
    merged = _native.merge_part_bytes(states).to_bytes()
    return _cpu() - start, merged


def merges(executors: int = 1000, tasks: int = 8) -> None:
    """Merges the states of a number of executors, by the driver alone and by tasks before it."""
    print("| metric | state of one | flat: driver, s | tree: slowest task, s | tree: driver, s | equal |\n|---|---|---|---|---|---|")
    makers = {
        "wer, 10,000 pairs": lambda seed: _scored(cases.RECORDS["wer"], 10_000)[1].to_bytes(),
        "classification, 10,000 labels": lambda seed: _scored(cases.RECORDS["classification"], 10_000)[1].to_bytes(),
        "coco, 2,000 detections": lambda seed: _of_images("coco", seed),
        "voc, 2,000 detections": lambda seed: _of_images("voc", seed),
    }
    for name, make in makers.items():
        is_alike = "detections" not in name
        states = [make(0)] * executors if is_alike else [make(seed) for seed in range(executors)]
        flat, whole = _merged(states)
        parts = [_merged(states[place::tasks]) for place in range(tasks)]
        last, tree = _merged([part for _, part in parts])
        slowest = max(seconds for seconds, _ in parts)
        print(f"| {name} | {len(states[0])} B | {flat:.2f} | {slowest:.2f} | {last:.2f} | {whole == tree} |", flush=True)
        print(f"whole state {len(whole) / 1e6:.1f} MB, peak of this process {_peak():.0f} MB", file=sys.stderr, flush=True)


def _of_images(metric: str, seed: int) -> bytes:
    truth, found = _detections(2_000, seed)
    scorer = _native.Scorer(metric, {}, {"threads": 1, "is_part": True})
    state: bytes = scorer.score_documents(found._columns(), truth._columns()).to_bytes()
    return state


def _session(memory: str = "1g") -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    home = str(Path(pyspark.__file__).parent)
    os.environ.update(SPARK_HOME=home, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master("local-cluster[2,1,2048]")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.executor.memory": "2g",
        "spark.executorEnv.SPARK_HOME": home,
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "16",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _timed(work: Any, runs: int = 3) -> float:
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def _driver_peak(session: Any) -> float:
    """The peak memory of the driver's JVM, in MB."""
    process = session._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


@dataclass(frozen=True)
class Peer:
    """Another package, which scores the columns of references and predictions as a pandas UDF."""

    package: str
    metric: str
    options: dict[str, Any]
    #: Numbers for the rows of two columns.
    score: Callable[[Any, Any], Any]
    #: The peer scores one row of this number of rows.
    share: int


def _jiwer(references: Any, predictions: Any) -> Any:
    import jiwer

    rows = (jiwer.process_words(*row) for row in zip(references, predictions))
    return [row.substitutions + row.deletions + row.insertions for row in rows]


def _codebleu(references: Any, predictions: Any) -> Any:
    from codebleu import calc_codebleu

    rows = zip(references, predictions)
    return [calc_codebleu([reference], [prediction], "python")["codebleu"] for reference, prediction in rows]


def _scikit_learn(references: Any, predictions: Any) -> Any:
    from sklearn.metrics import confusion_matrix

    matrix = confusion_matrix(references, predictions, labels=range(10))
    # The counts of a batch, one per row, from which a sum makes the matrix of all.
    return [*matrix.ravel(), *[0] * (len(references) - matrix.size)][: len(references)]


WORDS = Peer("jiwer", "wer", {}, _jiwer, 20)
CODE = Peer("codebleu", "codebleu", {"lang": "python", "profile": "codebleu-0.7"}, _codebleu, 20)
CLASSES = Peer("scikit-learn", "classification", {}, _scikit_learn, 1)


def compared(peer: Peer, identity: Any, rows: int) -> None:
    """Three jobs on the same cached frame, and one process."""
    import pandas
    from pyspark.sql import functions

    import metric_suite.spark as spark

    identity.persist().count()
    job = lambda: identity.mapInArrow(lambda batches: batches, identity.schema).write.format("noop").mode("overwrite").save()
    ours = lambda: spark.score(identity, peer.metric, **peer.options)
    job()
    ours()
    # In turns, because a session becomes faster over time.
    rounds = [(_timed(job, 1), _timed(ours, 1)) for _ in range(4)]
    plain, mine = (min(seconds) for seconds in zip(*rounds))
    print(f"{peer.metric}: rows {rows}: identity {plain:.2f} s, ours {mine:.2f} s", flush=True)
    table = identity.toArrow()
    scorer = _native.Scorer(peer.metric, peer.options, {"threads": 1})
    process = _timed(lambda: scorer.score_values(table["prediction"], table["reference"], None, None))
    print(f"one process, one thread {process:.2f} s", flush=True)

    def scored(reference: Any, prediction: Any) -> Any:
        return pandas.Series(peer.score(reference, prediction), dtype="float64")

    scored.__annotations__ = {"reference": pandas.Series, "prediction": pandas.Series, "return": pandas.Series}
    of_peer = functions.pandas_udf(scored, "double")
    few = identity.limit(rows // peer.share).repartition(16).persist()
    few.count()
    work = lambda: few.select(of_peer("reference", "prediction").alias("score")).agg(functions.sum("score")).collect()
    work()
    theirs = _timed(work, 1) * peer.share
    print(f"{peer.package} {theirs:.2f} s" + (f" (one row in {peer.share}, times {peer.share})" if peer.share > 1 else ""))
    less = mine - plain
    print(f"ours less identity to one process {less / process:.2f}")
    without = (theirs - plain) / max(less, 1e-9)
    print(f"{peer.package} to ours {theirs / mine:.1f}, less identity {without:.1f}", flush=True)
    few.unpersist()
    identity.unpersist()


def peers(pairs: int = 1_000_000, codes: int = 50_000, labels: int = 1_000_000) -> None:
    """Throughput on the same cached frame: an identity, ours, and the package of the metric as a pandas UDF."""
    from pyspark.sql import functions

    import metric_suite.spark as spark

    session = _session()
    frame = texts(session, pairs)
    compared(WORDS, frame.select("reference", "prediction"), pairs)
    frame.persist().count()
    print(f"wer with ids checked {_timed(lambda: spark.score(frame, 'wer'), 1):.2f} s", flush=True)
    frame.unpersist()
    rows = [row for row in cases.RECORDS["codebleu"].rows]
    given = session.createDataFrame([(place, *row) for place, row in enumerate(rows)], "place int, reference string, prediction string")
    numbers = session.range(0, codes, numPartitions=16)
    joined = numbers.join(functions.broadcast(given), functions.pmod("id", functions.lit(len(rows))) == functions.col("place"))
    compared(CODE, joined.select("reference", "prediction"), codes)
    label = lambda seed: functions.pmod(functions.hash("id", functions.lit(seed)), 10)
    classes = session.range(0, labels, numPartitions=16).select(label(1).alias("reference"), label(2).alias("prediction"))
    compared(CLASSES, classes, labels)
    session.stop()


def texts(session: Any, pairs: int) -> Any:
    """Returns pairs of ten words with their ids, which Spark makes."""
    from pyspark.sql import functions

    words = functions.array(*(functions.lit(word) for word in "the cat sat on a mat and ran far away".split()))
    of = lambda place: functions.element_at(words, functions.pmod(functions.hash("id", functions.lit(1 + place)), 10) + 1)
    text = functions.concat_ws(" ", *(of(place) for place in range(10)))
    frame = session.range(0, pairs, numPartitions=16).select("id", text.alias("reference"))
    return frame.withColumn("prediction", functions.regexp_replace("reference", "cat|mat", "dog"))


def on_spark(pairs: int = 10_000_000, detections: int = 2_000_000) -> None:
    """Seconds and memory of more pairs than a frame in memory has, and of detections."""
    from pyspark.sql import functions

    import metric_suite.spark as spark

    session = _session()
    if pairs:
        frame = texts(session, pairs).select("reference", "prediction")
        seconds = _timed(lambda: spark.score(frame, "wer"), 1)
        print(f"pairs {pairs}, with making them: {seconds:.1f} s", flush=True)
    print(f"driver's JVM peak {_driver_peak(session):.0f} MB, its Python {_peak():.0f} MB", flush=True)
    if detections:
        rows = session.range(0, detections, numPartitions=16)
        number = lambda seed, most: (functions.pmod(functions.hash("id", functions.lit(seed)), most * 10) / 10.0 + 1.0).cast("double")
        objects = rows.select(
            (functions.col("id") / 10).cast("bigint").alias("image_id"),
            functions.pmod(functions.hash("id"), 80).alias("category_id"),
            functions.array(number(1, 300), number(2, 300), number(3, 99), number(4, 99)).alias("bbox"),
            functions.col("id").alias("position"),
            number(5, 100).alias("score"),
        )
        truth = objects.drop("score", "position").withColumn("area", functions.col("bbox")[2] * functions.col("bbox")[3])
        truth = truth.withColumn("iscrowd", functions.lit(0))
        start = time.perf_counter()
        result = spark.score(truth, "coco", objects, order="position")
        print(f"detections {detections}: {time.perf_counter() - start:.1f} s, AP {result['AP']}, driver's JVM peak {_driver_peak(session):.0f} MB, its Python {_peak():.0f} MB")
    session.stop()


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    {"costs": costs, "merges": merges, "peers": peers, "spark": on_spark}[what](*map(int, numbers))
