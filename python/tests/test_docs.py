"""The examples of the docs and docstrings run, and the numbers in their comments are right."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import unittest.mock
from pathlib import Path

import pytest

import metric_suite
from metric_suite import _functions

ROOT = Path(__file__).parents[2]
SUITE = """name = "Words"
total = { rule = "sum", of = ["words.wip"] }
[[task]]
name = "words"
metric = "wer"
references = "truth.jsonl"
predictions = "output.jsonl"
"""
MODULES = ["_boxes", "_compare", "_listed", "_metric", "_own", "_read", "_report", "_result"]


@pytest.mark.parametrize("name", ["metric_suite", *(f"metric_suite.{module}" for module in MODULES)])
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("name", sorted(metric_suite._generated.CLASSES))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_function_has_an_example(name):
    call = getattr(metric_suite, _functions.python_name(name))
    [example] = doctest.DocTestFinder(recurse=False).find(call, name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(example)
    assert (runner.tries, runner.failures) == (2, 0)


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md", "docs/guides/translation.md", "docs/guides/summarization.md", "docs/guides/tools.md"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("truth.jsonl").write_text('{"id": 1, "reference": "a b"}\n')
    Path("output.jsonl").write_text('{"id": 1, "prediction": "a b"}\n')
    Path("submission").mkdir()
    Path("submission/output.jsonl").write_text('{"id": 1, "prediction": "a b"}\n')
    Path("suite.toml").write_text(SUITE)
    for path in (Path(__file__).parent / "files").iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    # Trackers, which take what they are given.
    for tracker in ("mlflow", "wandb"):
        monkeypatch.setitem(sys.modules, tracker, unittest.mock.MagicMock())
    names: dict = {}
    checked = 0
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S):
        exec(compile(block, page, "exec"), names)
        # A comment after an expression starts with its value.
        for expression, comment in re.findall(r"^(?:    )?(\S.*?)  +# (.*)$", block, re.M):
            value = re.match(r"(\d+(?:\.\d+)?|None|\(.*\)|\{.*\})", comment)
            if value:
                assert eval(expression, names) == eval(value[0]), (page, expression)
                checked += 1
    assert checked > 0
