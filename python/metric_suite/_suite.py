"""Suites: several tasks that score one submission, each in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from . import _native
from ._errors import MetricError
from ._result import Named, Result


class TaskResult:
    """The outcome of one task of a suite.

    Attributes:
        name: The name of the task.
        status: ``"ok"``, ``"missing"``, ``"failed"`` or ``"limit"``.
        reason: Why there is no result; ``None`` if there is one.
        result: The scores; ``None`` unless the status is ``"ok"``.
    """

    __slots__ = ("name", "status", "reason", "result")

    def __init__(self, name: str, body: Mapping[str, Any]) -> None:
        self.name = name
        self.status: str = body["status"]
        self.reason: str | None = body.get("reason")
        result = body.get("result")
        self.result: Result | None = None if result is None else Result._of_json(result)

    def __repr__(self) -> str:
        return f"TaskResult({self.name!r}, {self.status!r}{'' if self.reason is None else f', {self.reason!r}'})"


class SuiteResult:
    """The outcome of a suite: a total, and each task.

    Attributes:
        suite: The name of the suite.
        total: The total by the rule of the suite; ``None`` if it has none, or if a score is missing.
        tasks: The tasks by name, in the order of the suite.
        examples: Number of examples scored in all tasks.
        part: "public" if all scores and counts are those of the public part, otherwise None.
        split: Totals and scores of the public and of the private part, if the suite has such parts.
        comparison: The differences from another submission, in the form that ``metric run --compare`` prints; ``None``
            if none was requested.
        warnings: What to keep in mind, in words.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        body = json.loads(text)
        self.suite: str = body["suite"]
        self.total: float | None = body["total"]
        self.tasks: dict[str, TaskResult] = Named("task", {name: TaskResult(name, task) for name, task in body["tasks"].items()})
        self.examples: int = body.get("examples", 0)
        self.part: str | None = body.get("part")
        self.split: dict[str, Any] | None = body.get("split")
        self.comparison: dict[str, Any] | None = body.get("comparison")
        self.warnings: list[str] = body["warnings"]

    def to_json(self) -> str:
        """Returns the JSON that ``metric run`` prints."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as a dict."""
        body: dict[str, Any] = json.loads(self._text)
        return body

    def __repr__(self) -> str:
        total = "-" if self.total is None else f"{self.total:.4f}"
        tasks = "\n".join(f"  {task!r}" for task in self.tasks.values())
        return f"{self.suite}: total {total}\n{tasks}"


def run_suite(
    suite: str | PathLike[str],
    predictions: str | PathLike[str] | bytes,
    *,
    tasks: Iterable[str] | None = None,
    private: bool = False,
    threads: int | None = None,
    compare: str | PathLike[str] | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    interval: str | None = None,
    permutations: int | None = None,
) -> SuiteResult:
    """Scores a submission by the tasks of a suite, as ``metric run`` does.

    Each task has a process of its own, with the limits of the suite. A task that cannot be scored has a status and a
    reason, and the others are scored all the same.

    Args:
        suite: The suite file.
        predictions: The submission: a folder, a zip archive, or the bytes of one. It is not trusted.
        tasks: The names of the tasks to score; all of them by default.
        private: Whether the result holds no ids, values and paths of the references, for participants.
        threads: Threads of each task; one per core by default.
        compare: Another submission, a folder or a zip archive, which is the baseline of a comparison.
        confidence: Confidence of the intervals of a comparison, 0.95 by default.
        resamples: Replicates of the bootstrap of a comparison, 2000 by default.
        seed: Seed of all random numbers of a comparison, 0 by default.
        interval: The kind of the intervals of a comparison, ``"auto"`` by default.
        permutations: The number of random trials of a paired test, 10000 by default.

    Raises:
        MetricError: The suite file or the references are bad, or there is no submission.
    """
    if private and compare is not None:
        raise MetricError("compare= is for organizers: a comparison shows predictions and references, which private= hides")
    settings = {
        "confidence": confidence,
        "resamples": resamples,
        "seed": seed,
        "interval": interval,
        "permutations": permutations,
    }
    # Not where the package is imported, which would take a third longer.
    import tempfile

    with tempfile.TemporaryDirectory(prefix="metric-run-") as folder:
        text = _native.run_suite(
            suite,
            predictions,
            [] if tasks is None else list(tasks),
            _worker(),
            folder,
            private,
            threads,
            compare,
            settings,
        )
    return SuiteResult(text)


def _worker() -> list[str]:
    """A Python that answers for one task.

    It works in the folder of the submission, from which nothing may be imported: the path is ours, without the relative
    parts of it.
    """
    path = [entry for entry in sys.path if os.path.isabs(entry)]
    code = (
        f"import sys; sys.path[:] = {path!r}; "
        "from metric_suite import _native; "
        "sys.stdout.write(_native.serve_task()); sys.stdout.flush()"
    )
    return [sys.executable, "-I", "-c", code]
