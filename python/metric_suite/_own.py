"""Metrics of your own."""

from __future__ import annotations

import inspect
import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from . import _metric, _native

_T = TypeVar("_T", bound=type)


def register(metric: _T) -> _T:
    """Adds a metric of your own to the session, and returns its class, so that it can decorate one.

    The class says how it is called (``name``), what it counts (``counts``), and its ``scores``, each with the
    direction in which it is better: ``"higher"``, ``"lower"`` or ``None``. ``update(state, prediction, reference)``
    adds one example to the counts in ``state``; a missing prediction is ``None``. ``compute(state)`` returns the
    scores by name, or the only one; ``None`` is undefined. The parameters of ``__init__``, each with a default, are
    the options of the metric.

    Then it is used by its name as a built-in metric is, with samples, intervals, slices, comparisons, reports, and states
    that merge. Python is called for each example, by one thread at a time. A class that is registered again replaces the
    one before. Another process must register it as well.

    >>> import metric_suite
    >>> @metric_suite.register
    ... class WithinTolerance:
    ...     "Share of numbers within a tolerance of the reference"
    ...     name = "within-tolerance"
    ...     counts = ("correct", "total")
    ...     scores = {"within_tolerance": "higher"}
    ...     def __init__(self, tolerance: float = 0.5) -> None:
    ...         self.tolerance = tolerance
    ...     def update(self, state, prediction, reference):
    ...         state.correct += abs(prediction - reference) <= self.tolerance
    ...         state.total += 1
    ...     def compute(self, state):
    ...         return state.correct / state.total if state.total else None
    >>> result = metric_suite.score("within-tolerance", predictions=[1.0, 2.5, 9.0], references=[1.25, 2, 3], tolerance=0.3)
    >>> result["within_tolerance"], result.counts
    (0.3333333333333333, {'correct': 1, 'total': 3})
    >>> result.signature
    'within-tolerance|tolerance:0.3|counts:correct,total|v:0'

    Raises:
        TypeError: if the class lacks one of these.
        ValueError: if a built-in metric has the name.
    """
    name = _declared(metric, "name", str)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise TypeError(f"{metric.__name__}.name is {name!r}: expected words in lower case, joined by hyphens")
    counts = tuple(_declared(metric, "counts", (tuple, list)))
    scores = dict(_declared(metric, "scores", Mapping))
    for method in ("update", "compute"):
        if not callable(getattr(metric, method, None)):
            raise TypeError(f"{metric.__name__} has no method {method}")
    for score, direction in scores.items():
        if direction not in ("higher", "lower", None):
            raise TypeError(f"the direction of {score} is {direction!r}: expected 'higher', 'lower' or None")
    options = _options(metric)
    types = {option: type(default) for option, default in options.items()}
    state_type = type("State", (), {"__slots__": counts})

    def state_of(values: list[int]) -> Any:
        state = state_type()
        for count, value in zip(counts, values):
            setattr(state, count, value)
        return state

    def factory(given: dict[str, Any]) -> tuple[Callable[..., list[int]], Callable[..., list[float | None]]]:
        instance = metric(**{option: _converted(option, value, types[option]) for option, value in given.items()})

        def measure(prediction: Any, reference: Any) -> list[int]:
            state = state_of([0] * len(counts))
            instance.update(state, _value(prediction), _value(reference))
            return [_count(count, getattr(state, count)) for count in counts]

        def compute(values: list[int]) -> list[float | None]:
            computed = instance.compute(state_of(values))
            if not isinstance(computed, Mapping):
                computed = dict.fromkeys(list(scores)[:1], computed)
            return [_score(computed.get(score)) for score in scores]

        return measure, compute

    help_text = (inspect.getdoc(metric) or name).splitlines()[0]
    declared_options = [(option, types[option].__name__, str(default)) for option, default in options.items()]
    _native.register_metric(
        name,
        str(getattr(metric, "version", "0")),
        help_text,
        list(counts),
        list(scores.items()),
        declared_options,
        factory,
    )
    _metric._forget_entries()
    return metric


def _declared(metric: type, attribute: str, kind: Any) -> Any:
    value = getattr(metric, attribute, None)
    if not isinstance(value, kind) or not value:
        expected = {"name": "its name", "counts": "the names of its counts", "scores": "its scores with their directions"}
        raise TypeError(f"{metric.__name__}.{attribute} is {value!r}: expected {expected[attribute]}")
    return value


def _options(metric: type) -> dict[str, Any]:
    """Returns the parameters of a class with their defaults."""
    if metric.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    parameters = list(inspect.signature(metric.__init__).parameters.values())[1:]  # type: ignore[misc]
    for parameter in parameters:
        if type(parameter.default) not in (bool, int, float, str):
            raise TypeError(
                f"{metric.__name__}: parameter {parameter.name}: expected a default that is a number, a text or a Boolean"
            )
    return {parameter.name: parameter.default for parameter in parameters}


def _converted(option: str, value: Any, kind: type) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{option}={value!r}: expected a {'whole number' if kind is int else 'number'}") from None


def _value(given: tuple[str, bool] | None) -> Any:
    """Returns a value of a record: a text, or what its JSON says."""
    if given is None:
        return None
    text, is_text = given
    return text if is_text else json.loads(text)


def _count(name: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if count < 0:
        raise TypeError(f"the count {name} is {value!r}: expected a whole number, 0 or more")
    return count


def _score(value: Any) -> float | None:
    score = None if value is None else float(value)
    return None if score is None or math.isnan(score) else score
