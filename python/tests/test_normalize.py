import json
from pathlib import Path

import numpy
import pytest

import metric_suite
from metric_suite import MetricError, normalize

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "whisper"


@pytest.mark.parametrize("file", ["basic", "basic_split", "basic_nodiacritics", "english", "english_numbers"])
def test_rows_of_whisper(file):
    lines = (GOLDEN / f"{file}.jsonl").read_text("utf-8").split("\n")
    # The first line says where the rows are from.
    rows = [json.loads(line) for line in lines[1:] if line]
    assert len(rows) > 500
    for steps in {row["normalizer"] for row in rows}:
        of_steps = [row for row in rows if row["normalizer"] == steps]
        made = normalize([row["text"] for row in of_steps], steps)
        for row, text in zip(of_steps, made, strict=True):
            assert text == row["expected"], row["id"]


def test_columns_keep_their_kind():
    assert normalize("A\u0301 b", "nfc,lower") == "\u00e1 b"
    assert normalize(["A", None, ["B", "C"], []], ["lower"]) == ["a", None, ["b", "c"], []]
    assert normalize(("A",), "lower") == ("a",)
    assert normalize([], "lower") == []
    assert normalize("A", "") == "A"
    array = normalize(numpy.array(["Ab", "C"]), "lower")
    assert array.tolist() == ["ab", "c"]
    assert array.dtype.kind == "U"
    assert normalize(numpy.array(["A", None], dtype=object), "lower").tolist() == ["a", None]


def test_tables_keep_their_kind():
    pandas = pytest.importorskip("pandas")
    series = normalize(pandas.Series(["A", None], index=[3, 5], name="x"), "lower")
    assert (series.name, list(series.index), series[3]) == ("x", [3, 5], "a")
    assert pandas.isna(series[5])
    pyarrow = pytest.importorskip("pyarrow")
    assert normalize(pyarrow.array(["A", None]), "lower").equals(pyarrow.array(["a", None]))
    assert normalize(pyarrow.chunked_array([["A"], ["B"]]), "lower").to_pylist() == ["a", "b"]
    polars = pytest.importorskip("polars")
    assert normalize(polars.Series("x", ["A"]), "lower").equals(polars.Series("x", ["a"]))


def test_the_same_steps_as_metrics_take():
    texts = {"predictions": ["Colour!"], "references": ["color"]}
    plain = metric_suite.wer(**{name: normalize(column, "whisper-english") for name, column in texts.items()})
    assert plain["wer"] == metric_suite.wer(**texts, normalize="whisper-english")["wer"] == 0


def test_what_is_refused():
    with pytest.raises(MetricError, match='steps "foo": unknown normalization step "foo"') as error:
        normalize("a", "foo")
    assert error.value.option == "steps"
    with pytest.raises(MetricError, match="index 1: expected a text, found int") as error:
        normalize(["a", 1], "lower")
    assert error.value.index == 1
