"""Suites score submissions as the program does, and trust them as little."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

import metric_suite

SUITE = """
name = "Two"
total = { rule = "mean", of = ["words.exact_match", "labels.accuracy"] }

[[task]]
name = "words"
metric = "exact-match"
references = "words.jsonl"
predictions = "words.jsonl"
options = { ignore-case = true }

[[task]]
name = "labels"
metric = "classification"
references = "labels.csv"
predictions = "labels.csv"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "words.jsonl").write_text('{"id": 1, "reference": "Heron"}\n{"id": 2, "reference": "Egret"}\n')
    (tmp_path / "labels.csv").write_text("id,reference\n1,teal\n2,gadwall\n")
    submission = tmp_path / "s"
    submission.mkdir()
    (submission / "words.jsonl").write_text('{"id": 1, "prediction": "heron"}\n{"id": 2, "prediction": "x"}\n')
    (submission / "labels.csv").write_text("id,prediction\n1,teal\n2,gadwall\n")
    return tmp_path


def test_scores_are_those_of_score_files(folder):
    outcome = metric_suite.run_suite(folder / "suite.toml", folder / "s")
    # 1 of 2 words, and 2 of 2 labels.
    assert outcome.total == 0.75
    assert [task.status for task in outcome.tasks.values()] == ["ok", "ok"]
    alone = metric_suite.score_files(
        "exact-match", folder / "words.jsonl", folder / "s/words.jsonl", ignore_case=True
    )
    assert outcome.to_dict()["tasks"]["words"]["result"] == json.loads(alone.to_json())
    assert outcome.tasks["words"].result["exact_match"] == 0.5
    with pytest.raises(KeyError, match="no task 'word': expected one of words, labels"):
        outcome.tasks["word"]
    some = metric_suite.run_suite(folder / "suite.toml", folder / "s", tasks=["labels"])
    assert list(some.tasks) == ["labels"] and some.total is None


def test_archives_are_submissions(folder):
    expected = metric_suite.run_suite(folder / "suite.toml", folder / "s").to_json()
    with zipfile.ZipFile(folder / "s.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ["words.jsonl", "labels.csv"]:
            archive.write(folder / "s" / name, f"model/{name}")
    assert metric_suite.run_suite(folder / "suite.toml", folder / "s.zip").to_json() == expected


def test_nothing_is_imported_from_a_submission(folder):
    for name in ["json.py", "sys.py", "metric_suite.py", "sitecustomize.py", "os.py"]:
        (folder / "s" / name).write_text("open('evil', 'w').close(); raise SystemExit(3)\n")
    assert metric_suite.run_suite(folder / "suite.toml", folder / "s").total == 0.75
    assert not (folder / "s/evil").exists()


def test_bad_files_harm_their_task_only(folder):
    (folder / "s/words.jsonl").write_text("[" * 100_000)
    outcome = metric_suite.run_suite(folder / "suite.toml", folder / "s")
    assert outcome.total is None
    assert outcome.tasks["words"].status == "failed" and outcome.tasks["words"].reason
    assert outcome.tasks["labels"].result["accuracy"] == 1.0
    assert "no total: without a score of words.exact_match" in outcome.warnings


def test_private_results_hold_no_references(folder):
    (folder / "s/words.jsonl").write_text('{"id": 1, "prediction": "x"}\n')
    text = metric_suite.run_suite(folder / "suite.toml", folder / "s", private=True).to_json()
    for secret in ["Heron", "Egret", "teal", "gadwall", str(folder)]:
        assert secret not in text


def test_errors_of_the_organizer(folder):
    (folder / "suite.toml").write_text(SUITE.replace("options", "opts"))
    with pytest.raises(metric_suite.MetricError, match=r"suite.toml:10: unknown key `opts`"):
        metric_suite.run_suite(folder / "suite.toml", folder / "s")
    (folder / "suite.toml").write_text(SUITE)
    with pytest.raises(metric_suite.MetricError, match="cannot open the submission"):
        metric_suite.run_suite(folder / "suite.toml", folder / "none")


def test_archives_in_memory_are_submissions(folder):
    expected = metric_suite.run_suite(folder / "suite.toml", folder / "s").to_json()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ["words.jsonl", "labels.csv"]:
            archive.write(folder / "s" / name, name)
    assert metric_suite.run_suite(folder / "suite.toml", buffer.getvalue()).to_json() == expected
    # The submission fails, and not the suite, as with a file that is not an archive.
    outcome = metric_suite.run_suite(folder / "suite.toml", b"nothing")
    assert [task.status for task in outcome.tasks.values()] == ["failed", "failed"]


def test_submissions_are_compared(folder):
    baseline = folder / "old"
    baseline.mkdir()
    (baseline / "words.jsonl").write_text('{"id": 1, "prediction": "x"}\n{"id": 2, "prediction": "x"}\n')
    (baseline / "labels.csv").write_text("id,prediction\n1,teal\n2,gadwall\n")
    outcome = metric_suite.run_suite(
        folder / "suite.toml", folder / "s", compare=baseline, resamples=50, seed=3, permutations=20
    )
    found = outcome.comparison
    assert (found["baseline"], found["system"]) == ("old", "s")
    assert (found["resamples"], found["seed"], found["permutations"]) == (50, 3, 20)
    # The first word is correct in the submission only, and the labels are the same: (1/2 + 0) / 2.
    assert found["total"]["delta"] == 0.25
    words = found["tasks"]["words"]["comparison"]
    assert words["comparisons"][0]["delta"] == 0.5
    alone = metric_suite.compare(
        "exact-match",
        references=folder / "words.jsonl",
        predictions={"old": baseline / "words.jsonl", "s": folder / "s/words.jsonl"},
        ignore_case=True,
        resamples=50,
        seed=3,
        permutations=20,
    )
    assert words["comparisons"] == alone["comparisons"]
    assert metric_suite.run_suite(folder / "suite.toml", folder / "s").comparison is None


def test_options_of_a_comparison_are_checked(folder):
    paths = (folder / "suite.toml", folder / "s")
    with pytest.raises(metric_suite.MetricError, match="need compare="):
        metric_suite.run_suite(*paths, resamples=10)
    with pytest.raises(metric_suite.MetricError, match="resamples='x': expected"):
        metric_suite.run_suite(*paths, compare=folder / "s", resamples="x")
    with pytest.raises(metric_suite.MetricError, match="private= hides"):
        metric_suite.run_suite(*paths, compare=folder / "s", private=True)
    with pytest.raises(metric_suite.MetricError, match="cannot open the submission"):
        metric_suite.run_suite(*paths, compare=folder / "none")
