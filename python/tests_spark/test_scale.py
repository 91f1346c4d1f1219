"""The recipes of docs/scale.md run here, with 8 processes in place of machines."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from cases import RECORDS

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
CASE = RECORDS["wer"]


def block(title: str, language: str) -> str:
    """Returns the first block of a language after a title."""
    section = PAGE.split(f"## {title}\n", 1)[1]
    return re.search(rf"```{language}\n(.*?)```", section, re.S)[1]


@pytest.fixture
def program(tmp_path):
    found = os.environ.get("METRIC")
    if not found:
        pytest.skip("no program: METRIC is its path")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "metric").symlink_to(found)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def _files(folder: Path) -> None:
    (folder / "states").mkdir()
    for name, place in (("reference", 0), ("prediction", 1)):
        lines = [json.dumps({"id": id, name: row[place]}) for id, row in zip(CASE.ids, CASE.rows)]
        (folder / f"{name}s.jsonl").write_text("\n".join(lines) + "\n")


def _check(folder: Path, commands: list[tuple[list[str], dict[str, str]]]) -> None:
    """Runs commands at the same time, and compares what they leave with one process."""
    running = [subprocess.Popen(words, cwd=folder, env=variables) for words, variables in commands]
    assert [process.wait() for process in running] == [0] * len(running)
    merge = ["sh", "-c", block("Arrays of jobs", "text")]
    merged = subprocess.run(merge, cwd=folder, env=commands[0][1], capture_output=True, text=True, check=True)
    assert merged.stdout.strip() == CASE.expected().compute().to_json() and merged.stderr == ""


def test_slurm(program, tmp_path):
    _files(tmp_path)
    script = tmp_path / "score.sbatch"
    script.write_text(block("Arrays of jobs", "bash"))
    jobs = [{"SLURM_ARRAY_TASK_ID": str(place), "SLURM_ARRAY_TASK_COUNT": "8"} for place in range(8)]
    _check(tmp_path, [(["bash", str(script)], {**program, **job}) for job in jobs])


def test_kubernetes(program, tmp_path):
    _files(tmp_path)
    text = block("Arrays of jobs", "yaml")
    command = " ".join(re.search(r">-\n(.*?)\n +volumeMounts", text, re.S)[1].split())
    _check(tmp_path, [(["sh", "-c", command], {**program, "JOB_COMPLETION_INDEX": str(place)}) for place in range(8)])


def test_states_of_shards_are_those_of_spark(program, session, tmp_path):
    import metric_suite
    import metric_suite.spark as spark

    _files(tmp_path)
    words = "score wer --references references.jsonl --predictions predictions.jsonl --confidence 0.95 --resamples 40"
    states = []
    for place in range(3):
        name = f"{place}.state"
        shard = f"metric {words} --shard {place}/3 --state-out {name} --format json".split()
        subprocess.run(shard, cwd=tmp_path, env=program, check=True, capture_output=True)
        states.append((tmp_path / name).read_bytes())
    [row] = spark.state(CASE.frame(session).repartition(5), "wer", confidence=0.95, resamples=40).collect()
    assert metric_suite.merge(states).to_bytes() == bytes(row["state"])


def _parquet(folder: Path) -> None:
    (folder / "records").mkdir()
    references, predictions = (list(side) for side in zip(*CASE.rows))
    for place in range(4):
        table = {"id": CASE.ids[place::4], "reference": references[place::4], "prediction": predictions[place::4]}
        pyarrow.parquet.write_table(pyarrow.table(table), folder / "records" / f"{place}.parquet")


@pytest.mark.parametrize(("title", "package"), [("Ray Data", "ray"), ("Dask", "dask.dataframe")])
def test_other_engines(title, package, tmp_path, monkeypatch):
    pytest.importorskip(package)
    _parquet(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    if package == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", runtime_env={"working_dir": None})
    try:
        # As a script has it, so that functions can be sent to workers.
        exec(compile(block(title, "python"), title, "exec"), names)
    finally:
        if package == "ray":
            ray.shutdown()
    assert names["result"].to_json() == CASE.expected().compute().to_json()
