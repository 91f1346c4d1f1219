"""Metrics that are written in Python."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import metric_suite
import pytest

PREDICTIONS = [1.0, 2.5, 9.0, 4.0] * 5
REFERENCES = [1.25, 2, 3, 4] * 5


class Within:
    """Share of numbers within a tolerance of the reference"""

    name = "within"
    counts = ("correct", "total")
    scores = {"within": "higher"}

    def __init__(self, tolerance: float = 0.5) -> None:
        self.tolerance = tolerance

    def update(self, state: Any, prediction: Any, reference: Any) -> None:
        state.correct += abs(prediction - reference) <= self.tolerance
        state.total += 1

    def compute(self, state: Any) -> float | None:
        return state.correct / state.total if state.total else None


# Few records are enough here.
pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 30")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    metric_suite.register(Within)
    yield


def test_scores_as_built_in_metrics_do() -> None:
    result = metric_suite.score(
        "within",
        predictions=PREDICTIONS,
        references=REFERENCES,
        samples=True,
        confidence=0.95,
        fields={"half": ["a"] * 10 + ["b"] * 10},
        slice_field="half",
    )
    assert result["within"] == 15 / 20
    assert result.counts == {"correct": 15, "total": 20}
    assert list(result.samples["within"][:4]) == [1.0, 1.0, 0.0, 1.0]
    interval = result.intervals["within"]
    assert interval.low < 0.75 < interval.high
    # 10 of each half: two and a half times 1, 1, 0, 1.
    halves = {name: group["within"] for name, group in result.groups["half"].items()}
    assert halves == {"a": 0.8, "b": 0.7}


def test_threads_and_partitions_give_the_same() -> None:
    whole = metric_suite.Metric("within", tolerance=0.3)
    whole.update(PREDICTIONS, REFERENCES)
    parts = []
    for start in range(0, 20, 5):
        part = metric_suite.Metric("within", tolerance=0.3, threads=2)
        parts.append(part.update(PREDICTIONS[start : start + 5], REFERENCES[start : start + 5]))
    merged = metric_suite.merge(part.to_bytes() for part in reversed(parts))
    assert merged.compute() == whole.compute()
    assert merged.to_bytes() == whole.to_bytes()
    assert pickle.loads(pickle.dumps(whole)).compute() == whole.compute()


def test_systems_compare() -> None:
    systems = {"first": PREDICTIONS, "second": REFERENCES}
    compared = metric_suite.compare("within", references=REFERENCES, predictions=systems, resamples=50)
    [row] = compared["comparisons"]
    assert (row["wins"], row["losses"], row["ties"]) == (5, 0, 15)


def test_values_are_those_of_the_records(tmp_path: Any) -> None:
    seen = []

    class Seen:
        """Keeps what it sees"""

        name = "seen"
        counts = ("total",)
        scores = {"seen": None}

        def update(self, state: Any, prediction: Any, reference: Any) -> None:
            seen.append((prediction, reference))
            state.total += 1

        def compute(self, state: Any) -> float:
            return state.total

    metric_suite.register(Seen)
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"id": 1, "prediction": {"a": [1, null]}, "reference": "é"}\n{"id": 2, "prediction": null, "reference": 3}\n')
    assert metric_suite.score_files("seen", pairs)["seen"] == 2
    assert sorted(seen, key=repr) == [(None, 3), ({"a": [1, None]}, "é")]


def test_errors_of_its_own_code_name_the_example() -> None:
    with pytest.raises(metric_suite.MetricError, match="update raised TypeError"):
        metric_suite.score("within", predictions=["a"], references=[1])

    class Negative(Within):
        name = "negative"

        def update(self, state: Any, prediction: Any, reference: Any) -> None:
            state.total -= 1

    metric_suite.register(Negative)
    with pytest.raises(metric_suite.MetricError, match="the count total is -1"):
        metric_suite.score("negative", predictions=[1], references=[1])

    class Unknown(Within):
        name = "unknown-count"

        def update(self, state: Any, prediction: Any, reference: Any) -> None:
            state.corect = 1

    metric_suite.register(Unknown)
    with pytest.raises(metric_suite.MetricError, match="corect"):
        metric_suite.score("unknown-count", predictions=[1], references=[1])

    class Failing(Within):
        name = "failing"

        def compute(self, state: Any) -> float:
            return 1 / 0

    metric_suite.register(Failing)
    with pytest.warns(UserWarning, match="compute raised ZeroDivisionError"):
        assert metric_suite.score("failing", predictions=[1], references=[1])["within"] is None


def test_what_is_no_metric_is_refused() -> None:
    class Taken(Within):
        name = "wer"

    with pytest.raises(ValueError, match="there is a metric"):
        metric_suite.register(Taken)
    for attribute, value in [("name", "No Name"), ("counts", ()), ("scores", {"within": "up"}), ("update", None)]:
        with pytest.raises(TypeError):
            metric_suite.register(type("Wrong", (Within,), {attribute: value}))
    with pytest.raises(metric_suite.MetricError, match="tolerance"):
        metric_suite.score("within", predictions=[1], references=[1], tolerance="much")


def test_states_of_other_counts_do_not_merge() -> None:
    before = metric_suite.Metric("within").update([1], [1])

    class Reversed(Within):
        counts = ("total", "correct")

    metric_suite.register(Reversed)
    after = metric_suite.Metric("within").update([1], [1])
    with pytest.raises(metric_suite.MetricError, match="counts:total,correct"):
        after.merge(before)
    with pytest.raises(metric_suite.MetricError):
        metric_suite.Metric.from_bytes(before.to_bytes())


def test_a_class_that_is_registered_again_replaces_the_first() -> None:
    class Again(Within):
        """Another rule"""

        def compute(self, state: Any) -> float:
            return 0.25

    metric_suite.register(Again)
    assert metric_suite.score("within", predictions=[1], references=[1])["within"] == 0.25
    assert "within" in [metric.name for metric in metric_suite.metrics()]
