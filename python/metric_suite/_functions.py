"""The function and the class of each metric, made from the list of metrics of the extension."""

from __future__ import annotations

import keyword
import re
import textwrap
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from . import _native
from ._examples import EXAMPLES
from ._metric import Metric, _entries, _scored_as_given, _with_short_way, refuse_call, sides_of, takes_boxes

#: Name, type, default and meaning of an argument.
Argument = tuple[str, str, Any, str]

_COMMON: list[Argument] = [
    ("ids", "Any", None, "An id per example, for messages and samples."),
    ("fields", "Any", None, "Further columns by name, such as weights, clusters or slices: a mapping, or a data frame."),
]
_WEIGHTS: list[Argument] = [
    ("weights", "Any", None, "A weight per example, instead of ``weight_field``."),
    ("sample_weight", "Any", None, "The same as ``weights``, as scikit-learn calls it."),
]
_MISSING = "Mappings: what a reference without a prediction is: an error by default, scored against an empty one, or left out."
_NULL = "What a prediction that is None is: by default what ``missing`` says, otherwise an error, an empty one, or left out."
_THREADS = "The number of threads, by default one per core. The result does not depend on it."
_SLICES = "Fields whose values divide the examples into slices, each with scores of its own."
_WHERE = (
    "Conditions such as ``\"subject=law\"`` or ``\"split!=train\"`` on ``fields``, which select the examples that are scored; "
    "values of one field are alternatives."
)
_SETTINGS: list[Argument] = [
    ("samples", "bool", False, "Whether the result has the scores of each example."),
    ("details", "bool", False, "Whether the result has details that are too large for a table, such as curves."),
    ("missing", "Literal['error', 'empty', 'skip'] | None", None, _MISSING),
    ("null", "Literal['error', 'empty', 'skip'] | None", None, _NULL),
    ("as_text", "bool", False, "Whether numbers and Booleans are read as texts, as they are written."),
    (
        "extra",
        "Literal['error', 'ignore'] | None",
        None,
        "Mappings: what a prediction without a reference is: an error by default, or left out.",
    ),
    ("where", "str | Sequence[str] | None", None, _WHERE),
    ("threads", "int | None", None, _THREADS),
    ("confidence", "float | None", None, "Confidence of intervals, such as 0.95. By default there are no intervals."),
    ("resamples", "int | None", None, "Replicates of the bootstrap, 2000 by default."),
    ("seed", "int | None", None, "Seed of all random numbers, 0 by default."),
    ("cluster_field", "str | None", None, "Field of examples that are resampled together."),
    ("slice_field", "str | Sequence[str] | None", None, _SLICES),
    ("scores", "str | Sequence[str] | None", None, "The names of the scores to show, in this order."),
    ("sort", "str | None", None, "The score by which groups are sorted, the best one first."),
]


_BOXES: list[Argument] = [
    (
        "box_format",
        "Literal['xyxy', 'xywh', 'cxcywh']",
        "xyxy",
        "What boxes in dicts of torchmetrics are: two corners, the upper left corner and the size, or the center and the size.",
    ),
]


def python_name(name: str) -> str:
    name = name.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def result_type(entry: dict[str, Any]) -> str:
    return "CocoResult" if entry["arrays"] else "Result"


def _option_type(option: dict[str, Any], of_input: set[str]) -> tuple[str, Any]:
    """The type of an option in Python's notation, and its default; that of the form of the input depends on the values."""
    kind, default, choices = option["kind"], option["default"], option["choices"]
    word = f"Literal[{', '.join(repr(choice) for choice in choices)}]" if choices else "str"
    plain = {"integer": "int", "number": "float", "text": "str", "choice": word, "path": "str | PathLike[str]"}
    if kind == "flag":
        return "bool", False
    if kind == "list":
        item = plain[option["items"]]
        return f"Sequence[{item}] | {item if option['items'] != 'choice' else 'str'} | None", None
    if default is None or option["name"] in of_input:
        return f"{plain[kind]} | None", None
    return plain[kind], {"integer": int, "number": float}.get(kind, str)(default)


def options(entry: dict[str, Any]) -> list[Argument]:
    """The options of a metric as arguments."""
    found = []
    of_input = {name for shape in entry["shapes"] for name in shape["options"]}
    for option in entry["options"]:
        kind, default = _option_type(option, of_input)
        text = option["help"].rstrip(".") + "."
        if option["kind"] == "list" and option["default"] is not None:
            text = f"{text} By default {option['default']}."
        found.append((python_name(option["name"]), kind, default, text))
        if "also" in option:
            same = f"The same as ``{python_name(option['name'])}``."
            found.append((python_name(option["also"]), kind, default, same))
    return found


def arguments(entry: dict[str, Any]) -> list[Argument]:
    """The arguments of a metric's function, after the predictions and the references."""
    own = options(entry)
    weights = _WEIGHTS if any(name == "weight_field" for name, *_ in own) else []
    return _COMMON + weights + own + _given(entry) + _SETTINGS


def class_arguments(entry: dict[str, Any]) -> list[Argument]:
    """The arguments of a metric's class."""
    return options(entry) + _given(entry) + _SETTINGS


def _given(entry: dict[str, Any]) -> list[Argument]:
    return _BOXES if takes_boxes(entry["name"]) else []


@cache
def _choices() -> dict[str, set[str]]:
    """The values that options and settings have."""
    choices = {"missing": {"error", "empty", "skip"}, "extra": {"error", "ignore"}}
    for entry in _entries():
        for option in entry["options"]:
            choices.setdefault(option["name"], set()).update(option["choices"] or ())
    return choices


def _in_python(text: str) -> str:
    """Returns a text of the program's help with options as Python's arguments: ``--lang java`` is ``lang="java"``."""

    def argument(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if value in _choices().get(name, ()):
            return f'{python_name(name)}="{value}"'
        return python_name(name) + ("" if value is None else f" {value}")

    # Only the program has it.
    text = re.sub(r" \(with --strict[^)]*\)", "", text)
    return re.sub(r"--([a-z][a-z0-9-]*)(?: ([a-z][a-z0-9-]*))?", argument, text)


@cache
def _described(name: str, text: str) -> str:
    lines = textwrap.wrap(f"{name}: {_in_python(text)}", 108, initial_indent="    ", subsequent_indent="        ")
    return "\n".join(lines)


def _listed(items: list[tuple[str, str]]) -> list[str]:
    return ["Args:", *(_described(name, text) for name, text in items)]


def function_doc(entry: dict[str, Any]) -> str:
    sides = [(side, _taken(entry, side)) for side in sides_of(entry["name"])]
    words = {"higher": "higher is better", "lower": "lower is better", None: "neither direction is better"}
    scores = "; ".join(f"``{score['name']}`` ({words[score['direction']]})" for score in entry["scores"])
    items = sides + [(name, text) for name, _, _, text in arguments(entry)]
    returned = textwrap.wrap(f"The scores {scores}.", 108, initial_indent="    ", subsequent_indent="    ")
    lines = [f"{_in_python(entry['help'])}.", "", *_listed(items), "", "Returns:", *returned]
    lines += ["", "Raises:", "    MetricError: An option or a value is wrong.", ""]
    return "\n".join([*lines, *_example(entry["name"])])


def _taken(entry: dict[str, Any], side: str) -> str:
    """What a function takes on one side: one value per example, a data set, or either."""
    value = entry[side.removesuffix("s")].rstrip(".")
    kind = _native.reads(entry["name"])
    if kind == "documents":
        return f"{_DATA_SET}. In files: {value}."
    return f"{_VALUES}; each value is {value}." if kind == "records" else f"{_VALUES}, or a data set; each value is {value}."


_VALUES = "A sequence, an array or a column with one value per example, a mapping of ids to values, or the ``Path`` of a file"
_DATA_SET = "A path, dicts of COCO, ``Boxes``, or a list with one dict (torchmetrics) or ``Detections`` (supervision) per image"


def _example(name: str) -> list[str]:
    """The example of a metric, whose test tells if one is missing."""
    if name not in EXAMPLES:
        return []
    arguments, score, value = EXAMPLES[name]
    call = f'metric_suite.{python_name(name)}({arguments})["{score}"]'
    return [">>> import metric_suite", f">>> {call}", value, ""]


def class_doc(entry: dict[str, Any]) -> str:
    items = [(name, text) for name, _, _, text in class_arguments(entry)]
    return "\n".join([f"{_in_python(entry['help'])}, in batches.", "", *_listed(items), ""])


def _signature(items: list[Argument], returns: str, *first: Parameter) -> Signature:
    named = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=value) for name, kind, value, _ in items]
    return Signature([*first, *named], return_annotation=returns)


def _refuse_unknown(name: str, given: dict[str, Any], known: dict[str, Any]) -> None:
    unknown = [argument for argument in given if argument not in known]
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}")


def _function(entry: dict[str, Any], module: str) -> Any:
    metric, name, items = entry["name"], python_name(entry["name"]), arguments(entry)
    defaults = {argument: default for argument, _, default, _ in items}

    sides = sides_of(metric)
    known = {**defaults, **dict.fromkeys(sides)}

    def scored(*positional: Any, **given: Any) -> Any:
        refuse_call(name, sides, positional, given)
        _refuse_unknown(name, given, known)
        # Defaults are those of the metric, so only other values are handed on.
        return _scored_as_given(metric, defaults, given)

    call: Any = _with_short_way(metric)(scored) if entry["prediction"] == "a string" else scored
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = module, function_doc(entry)
    parameters = [Parameter(side, Parameter.KEYWORD_ONLY, annotation="Any") for side in sides]
    call.__signature__ = _signature(items, result_type(entry), *parameters)
    return call


def _class(entry: dict[str, Any], module: str) -> type[Metric]:
    name, items = entry["class_name"], class_arguments(entry)
    defaults = {argument: default for argument, _, default, _ in items}

    def init(self: Metric, **given: Any) -> None:
        _refuse_unknown(f"{name}.__init__", given, defaults)
        chosen = {argument: value for argument, value in given.items() if value != defaults[argument]}
        Metric.__init__(self, **chosen)

    kind = type(name, (Metric,), {"__doc__": class_doc(entry), "__module__": module, "_name": entry["name"], "__init__": init})
    setattr(init, "__qualname__", f"{name}.__init__")
    setattr(init, "__signature__", _signature(items, "None", Parameter("self", Parameter.POSITIONAL_ONLY)))
    return kind


def define(names: dict[str, Any]) -> None:
    """Puts the functions and the classes of all metrics into the names of a module."""
    module = names["__name__"]
    functions = {python_name(entry["name"]): _function(entry, module) for entry in _entries()}
    classes = {entry["name"]: _class(entry, module) for entry in _entries()}
    named = {kind.__name__: kind for kind in classes.values()}
    names.update(functions, **named, CLASSES=classes, __all__=[*functions, *named])
