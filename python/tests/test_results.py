"""Results as text, tables and data frames, with their groups."""

from __future__ import annotations

import math

import pytest

import metric_suite

PAIRS = {"predictions": ["a b", "a"], "references": ["a b", "a b"]}


def sliced(**options):
    return metric_suite.wer(**PAIRS, fields={"speaker": ["ann", "bob & co"]}, slice_field="speaker", **options)


def test_groups_are_in_every_form():
    result = sliced()
    for text in (repr(result), str(result), result.to_markdown(), result.to_latex(), result._repr_html_()):
        assert "speaker" in text and "ann" in text
    assert "ann       0.0000  " in repr(result) and "bob & co  0.5000  " in repr(result)
    assert "| bob & co | 0.5000 | 0.5000 | 0.5000 | 0.5000 | 0.5000 |" in result.to_markdown()
    assert r"bob \& co & 0.5000" in result.to_latex() and result.to_latex().count(r"\begin{tabular}") == 2
    assert "bob &amp; co" in result._repr_html_() and "bob & co" not in result._repr_html_()


def test_every_group_is_printed():
    labels = [f"class {number}" for number in range(90)]
    result = metric_suite.classification(predictions=labels, references=labels, groups="class")
    assert all(f"\n{label} " in repr(result) for label in labels)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_groups_have_intervals():
    result = metric_suite.string_accuracy(
        predictions=["a", "b"] * 20, references=["a"] * 40, fields={"room": ["x"] * 20 + ["y"] * 20}, slice_field="room", confidence=0.9
    )
    low, high = (getattr(result.groups["room"]["x"].intervals["string_accuracy"], side) for side in ("low", "high"))
    assert "string_accuracy, 90% interval" in repr(result)
    assert f"0.5000           {low:.4f} to {high:.4f}" in repr(result)
    frame = result.to_pandas()
    assert list(frame.columns) == ["kind", "group", "score", "value", "low", "high"]
    assert (frame.iloc[1]["low"], frame.iloc[1]["high"]) == (low, high)


def test_data_frames():
    frame = metric_suite.wer(**PAIRS).to_pandas()
    assert list(frame.columns) == ["score", "value"]
    assert dict(zip(frame["score"], frame["value"])) == dict(metric_suite.wer(**PAIRS))
    frame = sliced().to_pandas()
    assert frame[frame["score"] == "wer"][["kind", "group", "value"]].values.tolist()[1:] == [["speaker", "ann", 0.0], ["speaker", "bob & co", 0.5]]
    assert sliced().to_polars().rows()[0] == (None, None, "wer", 0.25)
    # An undefined score is a number that is missing, also if no score is defined.
    undefined = metric_suite.WER().compute()
    assert undefined.to_pandas()["value"].dtype == "float64" and math.isnan(undefined.to_pandas()["value"][0])
    assert undefined.to_polars()["value"].to_list() == [None] * 5


def test_scores_that_are_asserted():
    result = metric_suite.wer(**PAIRS)
    metric_suite.assert_score(result, wer=0.25, wip=0.5)
    with pytest.raises(AssertionError, match=r"wer is 0.25: expected at most 0.2\nwip is 0.75: expected at least 0.8"):
        metric_suite.assert_score(result, wer=0.2, wip=0.8)
    with pytest.raises(metric_suite.MetricError, match="no score 'cer'"):
        metric_suite.assert_score(result, cer=0.2)
