"""Results as a page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _native
from ._errors import MetricError
from ._result import Result


def report(
    results: Result | Mapping[str, Any] | Sequence[Result],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    format: str | None = None,
) -> str:
    """Renders results as a page: the scores with their intervals, charts, groups, warnings, signatures.

    Args:
        results: A result; several results, as a list or by name, which are compared in a table; or what ``compare``
            returns.
        path: The file to write, whose name ends in ``.html`` or ``.md``; by default none is written.
        title: The title; by default a description of the metric.
        format: ``"html"`` or ``"markdown"``; by default that of the name of the file, and HTML without a file.

    Returns:
        The page, which notebooks show. It needs no network, and texts of the data cannot add markup to it.

    Raises:
        MetricError: There is no result, or the format is not known.

    Curves and similar charts show the first result, if it has ``details``.

    >>> import metric_suite
    >>> result = metric_suite.wer(predictions=["the cat"], references=["the cat sat"])
    >>> metric_suite.report(result, format="markdown").splitlines()[0]
    '# Word error rate'
    """
    named = _named(results)
    if not named:
        raise MetricError("no results to report: expected at least one")
    chosen = format or _format_of(path)
    if chosen not in ("html", "markdown"):
        raise MetricError(f"format {chosen!r}: expected 'html' or 'markdown'", option="format")
    first = named[0][1]
    details = first.details if isinstance(first, Result) else None
    texts = [(name, _json(result)) for name, result in named]
    differences = results.get("comparisons") if isinstance(results, Mapping) and not isinstance(results, Result) else None
    page = _native.render_report(
        texts,
        None if differences is None else json.dumps(differences),
        None if details is None else json.dumps(details),
        title,
        chosen == "markdown",
    )
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
    return _MarkdownPage(page) if chosen == "markdown" else _HtmlPage(page)


class _HtmlPage(str):
    """A page that notebooks show, in a frame that cannot reach the notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from html import escape

        style = "width: 100%; height: 40em; border: 0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self)}"></iframe>'


class _MarkdownPage(str):
    """A text that notebooks show."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def _named(results: Any) -> list[tuple[str, Any]]:
    if isinstance(results, Result):
        return [(results.metric, results)]
    if isinstance(results, Mapping):
        if "systems" in results and "comparisons" in results:
            return [(system["name"], _of_system(results, system)) for system in results["systems"]]
        return [(str(name), result) for name, result in results.items()]
    if not isinstance(results, Iterable):
        raise MetricError(f"results: found {type(results).__name__}: expected a Result, or several")
    return [(f"result {place}", result) for place, result in enumerate(results, 1)]


def _of_system(comparison: Mapping[str, Any], system: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the result of a system, with the parts of a comparison that apply to all systems."""
    common = {name: comparison[name] for name in ("metric", "signature", "examples", "warnings")}
    statistics = {"confidence": comparison["confidence"], "intervals": system.get("intervals", {})}
    return {**common, "scores": system["scores"], "counts": system.get("counts", {}), "statistics": statistics}


def _json(result: Any) -> str:
    if isinstance(result, Result):
        body = {**result.to_dict(), "warnings": result.warnings}
    elif isinstance(result, Mapping) and "scores" in result:
        body = dict(result)
    else:
        raise MetricError(f"found {type(result).__name__}: expected a Result")
    return json.dumps(body)


def _format_of(path: str | os.PathLike[str] | None) -> str:
    if path is None:
        return "html"
    ending = os.path.splitext(os.fspath(path))[1].lower()
    formats = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}
    if ending not in formats:
        raise MetricError(f"{os.fspath(path)}: expected a name that ends in .html or .md", option="path")
    return formats[ending]
