"""Writes ``metric_suite/_generated.py``: a function and a class per metric, with its options as typed arguments.

Run ``python generate.py`` where the package is installed; ``--check`` only tells whether the file is up to date.
"""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).parent / "metric_suite" / "_generated.py"

# Names of classes that differ from the name of the metric with each word capitalized.
CLASSES = {
    "anls": "ANLS",
    "arc": "ARC",
    "cer": "CER",
    "coco": "COCO",
    "codebleu": "CodeBLEU",
    "mrr": "MRR",
    "openlane": "OpenLane",
    "squad": "SQuAD",
    "tide": "TIDE",
    "voc": "VOC",
    "vqa": "VQA",
    "wer": "WER",
}

# Options whose default depends on the values.
INFERRED = {"input"}

# Metrics with a fast path for a few texts.
SHORT = {"cer", "exact-match", "string-accuracy", "wer"}

# Results that have more than scores.
RESULTS = {"coco": "CocoResult"}

HEAD = '''"""One function and one class per metric. Written by ``generate.py`` from the list of metrics."""

# fmt: off
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, cast

from ._metric import Metric, _scored_as_given, _with_short_way
from ._result import CocoResult, Result
'''

COMMON = [
    ("ids", "Any", "None", "An id per example, for messages and samples."),
    ("fields", "Mapping[str, Any] | None", "None", "Further columns by name, such as weights, clusters or slices."),
]
WEIGHTS = ("weights", "Any", "None", "A weight per example, instead of ``weight_field``.")
SETTINGS = [
    ("samples", "bool", "False", "Whether the result has the scores of each example."),
    ("details", "bool", "False", "Whether the result has details that are too large for a table, such as curves."),
    ("missing", "Literal['error', 'empty', 'skip'] | None", "None", "Mappings: what a reference without a prediction is: an error by default, scored against an empty one, or left out."),
    ("extra", "Literal['error', 'ignore'] | None", "None", "Mappings: what a prediction without a reference is: an error by default, or left out."),
    ("threads", "int | None", "None", "The number of threads, by default one per core. The result does not depend on it."),
    ("confidence", "float | None", "None", "Confidence of intervals, such as 0.95. By default there are no intervals."),
    ("resamples", "int | None", "None", "Replicates of the bootstrap, 2000 by default."),
    ("seed", "int | None", "None", "Seed of all random numbers, 0 by default."),
    ("cluster_field", "str | None", "None", "Field of examples that are resampled together."),
    ("slice_field", "str | Sequence[str] | None", "None", "Fields whose values divide the examples into slices, each with scores of its own."),
]


def class_name(name: str) -> str:
    return CLASSES.get(name) or "".join(word.capitalize() for word in name.split("-"))


def python_name(name: str) -> str:
    name = name.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def option_type(option: dict) -> tuple[str, str]:
    """The type of an option and its default, in Python's notation."""
    kind, default = option["kind"], option["default"]
    choices = option["choices"]
    word = f"Literal[{', '.join(repr(choice) for choice in choices)}]" if choices else "str"
    plain = {"integer": "int", "number": "float", "text": "str", "choice": word, "path": "str | PathLike[str]"}
    if option["name"] in INFERRED:
        return f"{word} | None", "None"
    if kind == "flag":
        return "bool", "False"
    if kind == "list":
        item = plain[option["items"]]
        return f"Sequence[{item}] | {item if option['items'] != 'choice' else 'str'} | None", "None"
    if default is None:
        return f"{plain[kind]} | None", "None"
    if kind == "integer":
        return "int", default
    if kind == "number":
        return "float", repr(float(default))
    return plain[kind], repr(default)


def arguments(entry: dict) -> list[tuple[str, str, str, str]]:
    found = []
    for option in entry["options"]:
        kind, default = option_type(option)
        text = option["help"].rstrip(".") + "."
        if option["kind"] == "list" and option["default"] is not None:
            text = f"{text} By default {option['default']}."
        found.append((python_name(option["name"]), kind, default, text))
    return found


# The values of settings, in addition to those of options.
CHOICES = {"missing": {"error", "empty", "skip"}, "extra": {"error", "ignore"}}


def in_python(text: str) -> str:
    """Returns a text of the program's help with options as Python's arguments: ``--lang java`` is ``lang="java"``."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if value in CHOICES.get(name, ()):
            return f'{python_name(name)}="{value}"'
        return python_name(name) + ("" if value is None else f" {value}")

    # Only the program has it.
    text = re.sub(r" \(with --strict[^)]*\)", "", text)
    return re.sub(r"--([a-z][a-z0-9-]*)(?: ([a-z][a-z0-9-]*))?", argument, text)


def described(items: list[tuple[str, str, str, str]], indent: str) -> list[str]:
    lines = []
    for name, _, _, text in items:
        wrapped = textwrap.wrap(f"{name}: {in_python(text)}", 108, initial_indent=indent, subsequent_indent=indent + "    ")
        lines += wrapped
    return lines


def scores_text(entry: dict) -> str:
    words = {"higher": "higher is better", "lower": "lower is better", None: "neither direction is better"}
    return "; ".join(f"``{score['name']}`` ({words[score['direction']]})" for score in entry["scores"])


def escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def function(entry: dict) -> str:
    name, items = entry["name"], arguments(entry)
    weights = [WEIGHTS] if any(name == "weight_field" for name, *_ in items) else []
    every = COMMON + weights + items + SETTINGS
    signature = "".join(f"    {argument}: {kind} = {default},\n" for argument, kind, default, _ in every)
    sides = [
        ("predictions", "", "", entry["prediction"].rstrip(".") + "."),
        ("references", "", "", entry["reference"].rstrip(".") + "."),
    ]
    body = [f"{in_python(entry['help'])}.", "", "Args:", *described(sides + every, "    "), "", "Returns:"]
    body += textwrap.wrap(f"The scores {scores_text(entry)}.", 108, initial_indent="    ", subsequent_indent="    ")
    body += ["", "Raises:", "    MetricError: An option or a value is wrong."]
    text = "\n".join(f"    {escaped(line)}".rstrip() for line in body).lstrip()
    kind, own = RESULTS.get(name, "Result"), python_name(name)
    # Defaults are those of the metric, so only other values are handed on.
    call = f"_scored_as_given({name!r}, {own}.__kwdefaults__, locals())"
    decorator = f"@_with_short_way({name!r})\n" if name in SHORT else ""
    return (
        f"{decorator}def {python_name(name)}(\n    *,\n    predictions: Any,\n    references: Any,\n{signature}) -> {kind}:\n"
        f'    """{text}\n    """\n'
        f"    return {call if kind == 'Result' else f'cast({kind}, {call})'}\n"
    )


def metric_class(entry: dict) -> str:
    name, items = entry["name"], arguments(entry)
    every = items + SETTINGS
    signature = "".join(f"        {argument}: {kind} = {default},\n" for argument, kind, default, _ in every)
    given = "".join(f"            {argument}={argument},\n" for argument, *_ in every)
    defaults = ", ".join(f"{argument!r}: {default}" for argument, _, default, _ in every)
    body = [f"{in_python(entry['help'])}, in batches.", "", "Args:", *described(every, "    ")]
    text = "\n".join(f"    {escaped(line)}".rstrip() for line in body).lstrip()
    return (
        f'class {class_name(name)}(Metric):\n    """{text}\n    """\n\n'
        f"    _name = {name!r}\n    _defaults = {{{defaults}}}\n\n"
        f"    def __init__(\n        self,\n        *,\n{signature}    ) -> None:\n"
        f"        self._init(\n{given}        )\n"
    )


def written(entries: list[dict]) -> str:
    for entry in entries:
        for option in entry["options"]:
            CHOICES.setdefault(option["name"], set()).update(option["choices"] or ())
    parts = [HEAD]
    for entry in entries:
        parts += [function(entry), metric_class(entry)]
    functions = [python_name(entry["name"]) for entry in entries]
    classes = [class_name(entry["name"]) for entry in entries]
    table = "".join(f"    {entry['name']!r}: {class_name(entry['name'])},\n" for entry in entries)
    names = "".join(f"    {name!r},\n" for name in functions + classes)
    parts.append(f"CLASSES: dict[str, type[Metric]] = {{\n{table}}}\n")
    parts.append(f"__all__ = [\n{names}]\n")
    return "\n\n".join(parts)


def main() -> int:
    from metric_suite._metric import _entries

    text = written(_entries())
    if "--check" in sys.argv:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
