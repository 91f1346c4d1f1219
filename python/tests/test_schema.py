"""Results, comparisons, lists and lines have the forms of docs/schema."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

import metric_suite

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "crates/metric-cli/demo"

def _files():
    """The files of the demo: metric, references, predictions, options."""
    for metric in metric_suite.metrics():
        flags = {option["name"] for option in metric.options if option["kind"] == "flag"}
        for demo in metric.demos:
            options = {name.replace("-", "_"): value if name not in flags else True for name, value in demo["options"].items()}
            yield metric.name, demo["references"], demo["predictions"], options
            if "class" in metric.groups and any(option["name"] == "groups" for option in metric.options):
                yield metric.name, demo["references"], demo["predictions"], {**options, "groups": "class"}


FILES = list(_files())


def strict(schema):
    """The schema with an error for fields that it does not describe, which readers must ignore."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: strict(value) for name, value in schema.items()}
    # A field of this name holds a schema, the keyword a map of them.
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs/schema").glob("*.json")}
REGISTRY = Registry().with_resources(
    [(schema["$id"], Resource.from_contents(strict(schema))) for schema in SCHEMAS.values()]
)


def validate(name, value):
    validator = jsonschema.Draft202012Validator(strict(SCHEMAS[name]), registry=REGISTRY)
    validator.validate(value)


def test_schemas_are_schemas():
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"{name}.schema.json"


@pytest.mark.parametrize("metric, references, predictions, options", FILES)
@pytest.mark.parametrize("statistics", [{}, {"confidence": 0.9, "resamples": 100}])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_results(metric, references, predictions, options, statistics):
    sides = [DEMO / references] if references else []
    result = metric_suite.score_files(metric, *sides, predictions=DEMO / predictions, **options, **statistics)
    body = json.loads(result.to_json())
    validate("result", body)
    assert ("statistics" in body) == bool(statistics)


def test_every_metric_is_among_the_files():
    # Other tests register metrics of their own.
    assert {metric for metric, *_ in FILES} == set(metric_suite._generated.CLASSES)


def kind(value):
    """The schema that describes what the program printed."""
    for field, name in [
        ("suite", "run"),
        ("results", "results"),
        ("systems", "comparison"),
        ("metrics", "list"),
        ("replicate", "replicate"),
        ("problems", "check"),
    ]:
        if field in value:
            return name
    return "result" if "signature" in value else "example"


def shown():
    """The JSON that the commands of the docs print; another test runs them and compares."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            without_files = re.sub(r"<<'E'\n.*?\nE\n", "\n", block, flags=re.S)
            for line in without_files.splitlines():
                if line.startswith("{"):
                    yield json.loads(line)


def test_what_the_docs_show():
    kinds = set()
    for value in shown():
        if "schema" in value or "scores" in value:
            validate(kind(value), value)
            kinds.add(kind(value))
    assert kinds == set(SCHEMAS) - {"common"}


def test_other_forms_are_errors():
    result = json.loads(metric_suite.wer(predictions=["a b"], references=["a c"]).to_json())
    for change in [
        {"schema": 2},
        {"signature": "wer"},
        {"scores": {"wer": "0.5"}},
        {"scores": None},
        {"counts": {"hits": "1"}},
        {"examples": -1},
        {"more": 1},
        {"groups": {"speaker": {"ann": {"scores": {}}}}},
        {"statistics": {}},
    ]:
        with pytest.raises(jsonschema.ValidationError):
            validate("result", {**copy.deepcopy(result), **change})
