"""The examples in the docstrings of the drop-in modules run."""

import doctest
import importlib
import pkgutil

import pytest

import metric_suite.compat

MODULES = [
    module.name
    for module in pkgutil.walk_packages(metric_suite.compat.__path__, "metric_suite.compat.")
    if not module.name.endswith("__main__")
]


def test_modules_are_found():
    assert {"metric_suite.compat.jiwer.transforms", "metric_suite.compat.pycocotools.mask"} <= set(MODULES)


@pytest.mark.parametrize("name", [*MODULES, "metric_suite.evaluate"])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_scorer():
    pytest.importorskip("sklearn")
    failed, tried = doctest.testmod(importlib.import_module("metric_suite.sklearn"))
    assert tried > 0 and failed == 0
