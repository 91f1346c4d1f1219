"""Reports of results, and data files as values."""

import html

import pytest

import metric_suite


def scored(**options):
    return metric_suite.wer(predictions=["the cat", "a dog"] * 20, references=["the cat sat", "a dog"] * 20, **options)


def test_reports_are_written_as_their_names_say(tmp_path):
    result = scored(confidence=0.9)
    page = metric_suite.report(result, tmp_path / "r.html", title="A < B")
    assert (tmp_path / "r.html").read_text() == page
    assert page.startswith("<!DOCTYPE html>") and "A &lt; B" in page and "90% interval" in page
    text = metric_suite.report(result, tmp_path / "r.md")
    assert (tmp_path / "r.md").read_text() == text
    assert text.startswith("# Word error rate") and "0.2000" in text
    assert metric_suite.report(result) == metric_suite.report(result, format="html")


def test_notebooks_show_reports():
    page = metric_suite.report(scored())
    frame = page._repr_html_()
    before, after = frame.split(' srcdoc="')
    assert before.startswith('<iframe sandbox="allow-scripts"') and after.endswith('"></iframe>')
    # The page is the value of one attribute.
    assert html.unescape(after.removesuffix('"></iframe>')) == page and after.count('"') == 1
    text = metric_suite.report(scored(), format="markdown")
    assert text._repr_markdown_() == text and not hasattr(text, "_repr_html_")


def test_texts_of_the_data_add_no_markup():
    hostile = "<script>alert(1)</script>"
    result = metric_suite.string_accuracy(
        predictions=["a", "b"], references=["a", "a"], fields={"kind": [hostile, "x"]}, slice_field="kind"
    )
    for text in (metric_suite.report(result), result._repr_html_()):
        assert hostile not in text
    assert "By kind" in metric_suite.report(result, format="markdown")


def test_several_results_are_a_table():
    results = {"old": scored(), "new": metric_suite.wer(predictions=["a"], references=["a"])}
    text = metric_suite.report(results, format="markdown")
    assert "Scores of all results" in text and "| old | 0.2000" in text and "| new | 0.0000" in text
    assert "| result 2 |" in metric_suite.report(list(results.values()), format="markdown")


def test_a_comparison_has_its_differences():
    found = metric_suite.compare(
        "string-accuracy", references=["a"] * 40, predictions={"old": ["a", "b"] * 20, "new": ["a"] * 40}
    )
    text = metric_suite.report(found, format="markdown")
    assert "Differences between systems" in text
    row = next(line for line in text.splitlines() if line.startswith("| new | old | string"))
    assert [cell.strip() for cell in row.split("|")][-4:-1] == ["20", "20", "0"]


def test_a_comparison_has_charts():
    found = metric_suite.compare("wer", references=["a b"] * 40, predictions={"old": ["a c"] * 40, "new": ["a b", "a c"] * 20})
    page = metric_suite.report(found)
    assert "wer of each result" in page and "Difference in wer from old" in page and "Left of the dashes is better" in page
    assert page.count("<svg") >= 2
    pairs = metric_suite.compare(
        "wer", references=["a"] * 9, predictions={name: ["a", "b", "a"] * 3 for name in "xyz"}, all_pairs=True
    )
    assert "z from y" in metric_suite.report(pairs)


def test_details_are_charts():
    truth = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]])
    found = metric_suite.Boxes(image=[1], category=[7], box=[[0, 0, 9, 9]], score=[0.9])
    result = metric_suite.coco(predictions=found, references=truth)
    assert "Precision against recall" in metric_suite.report(result)
    # The charts of a result that was stored without its details are not there.
    assert "Precision against recall" not in metric_suite.report({"stored": result.to_dict()})


@pytest.mark.parametrize(
    "results, options, problem",
    [
        ([], {}, "no results"),
        (["wer"], {}, "found str: expected a Result"),
        (None, {"format": "pdf"}, "expected 'html' or 'markdown'"),
        (None, {"path": "r.pdf"}, "ends in .html or .md"),
    ],
)
def test_what_is_refused(results, options, problem):
    with pytest.raises(metric_suite.MetricError, match=problem):
        metric_suite.report(scored() if results is None else results, **options)


@pytest.mark.parametrize(
    "name, text, options, expected",
    [
        ("a.jsonl", '{"id": 7, "prediction": [1]}\n{"id": "b", "prediction": null}\n', {}, [("7", [1]), ("b", None)]),
        ("a.json", '{"k": {"x": 1}, "l": "2"}', {}, [("k", {"x": 1}), ("l", "2")]),
        ("a.csv", "id,reference\nx,1\ny,two\n", {}, [("x", "1"), ("y", "two")]),
        ("a.tsv", "name\ttext\nx\tone\n", {"id_field": "name", "field": "text"}, [("x", "one")]),
        ("a.txt", 'one "two"\nthree\n', {}, [("1", 'one "two"'), ("2", "three")]),
        ("a.jsonl", '{"text": "x"}\n', {"id_field": "#row", "field": "text"}, [("1", "x")]),
    ],
)
def test_files_are_read(tmp_path, name, text, options, expected):
    (tmp_path / name).write_text(text)
    source = metric_suite.read(tmp_path / name, **options)
    assert list(source) == expected and len(source) == len(expected)
    assert source.to_dict() == dict(expected)


def test_columns_of_files(tmp_path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"id": ["a", "b"], "prediction": ["x", "y"]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    source = metric_suite.read(tmp_path / "p.parquet")
    assert source.to_arrow().to_pydict() == {"id": ["a", "b"], "value": ["x", "y"]}
    assert pyarrow.table(source).num_rows == 2
    assert list(source.to_pandas()["value"]) == ["x", "y"]
    assert metric_suite.wer(predictions=source.to_dict(), references={"b": "y", "a": "x"})["wer"] == 0.0


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "prediction": 1}\n{"id": 2}\n')
    with pytest.raises(metric_suite.MetricError, match="a.jsonl:2: no field"):
        metric_suite.read(tmp_path / "a.jsonl")
    with pytest.raises(FileNotFoundError):
        metric_suite.read(tmp_path / "b.jsonl")


def test_mappings_are_read_as_the_metric_reads_files():
    # A file of solutions, and not ids with values.
    grids = {"t": [[[1]], [[2]]]}
    found = {"t": [{"attempt_1": [[1]], "attempt_2": [[0]]}, {"attempt_1": [[0]], "attempt_2": [[2]]}]}
    assert metric_suite.arc(predictions=found, references=grids)["kaggle"] == 1.0
    # Ids that are called like the fields of a document.
    assert metric_suite.wer(predictions={"data": "a"}, references={"data": "a"})["wer"] == 0.0
    squad = {"data": [{"paragraphs": [{"qas": [{"id": "q", "answers": [{"text": "a"}]}]}]}]}
    assert metric_suite.squad(predictions={"q": "a"}, references=squad)["exact_match"] == 1.0
