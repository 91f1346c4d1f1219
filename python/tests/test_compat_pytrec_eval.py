"""`metric_suite.compat.pytrec_eval` on golden rows of pytrec_eval."""

import pytest
from golden import rows

from metric_suite.compat import pytrec_eval as ours


def measure(key):
    """The name that asks for a key of the results."""
    return key.replace("iprec_at_recall_", "iprec_at_recall.")


@pytest.mark.parametrize("row", rows("ranking/topics.jsonl"), ids=lambda row: row["id"])
def test_measures(row):
    keys = {key for values in row.get("value", {}).values() for key in values}

    def evaluate():
        level, judged_only = row["relevance_level"], row["judged_docs_only"]
        measures = {measure(key) for key in keys} or {"map"}
        evaluator = ours.RelevanceEvaluator(row["qrels"], measures, level, judged_only)
        return evaluator.evaluate(row["run"])

    if "error" in row:
        with pytest.raises(TypeError) as found:
            evaluate()
        assert f"TypeError: {found.value}" == row["error"]
        return
    values = evaluate()
    assert values.keys() == row["value"].keys()
    for topic, expected in row["value"].items():
        # NaN is a text in the rows.
        expected = {key: float(value) for key, value in expected.items()}
        assert values[topic] == pytest.approx(expected, rel=0, abs=1e-12, nan_ok=True)


def test_files():
    run = ours.parse_run(["q Q0 a 1 0.5 tag\n", "q Q0 b 2 0.25 tag\n"])
    assert run == {"q": {"a": 0.5, "b": 0.25}}
    assert ours.parse_qrel(["q 0 a 1\n"]) == {"q": {"a": 1}}


def test_means():
    assert ours.compute_aggregated_measure("num_rel", [1.0, 2.0]) == 3.0
    assert ours.compute_aggregated_measure("map", [0.0, 1.0]) == 0.5
    assert ours.compute_aggregated_measure("gm_map", [0.0, 0.0]) == 1.0
