"""Tables of results and comparisons, in the forms of a terminal, Markdown, LaTeX, HTML and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Table(NamedTuple):
    """Rows of cells. The first cell of a row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def number(value: float | None, signed: bool = False) -> str:
    """Returns a number with four digits after the point, and a hyphen for an undefined one."""
    return "-" if value is None else f"{value:+.4f}" if signed else f"{value:.4f}"


def interval(low: float | None, high: float | None, signed: bool = False) -> str:
    """Returns an interval as a text, and a hyphen for an undefined one."""
    return "-" if low is None or high is None else f"{number(low, signed)} to {number(high, signed)}"


def text(tables: Sequence[Table]) -> str:
    """Returns tables for a terminal, with an empty line between two of them."""
    return "\n\n".join(map(_aligned, tables))


def _aligned(table: Table) -> str:
    rows = [[_line(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _line(cell: str) -> str:
    """Returns a cell on one line: names of groups and systems may have any characters."""
    return " ".join(cell.split("\n")) if "\n" in cell else cell


def markdown(tables: Sequence[Table]) -> str:
    """Returns tables in Markdown."""
    return "\n\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    rows = [table.head, ["---"] * len(table.head), *table.rows]
    escaped = ((_line(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in row) for row in rows)
    return "\n".join("| " + " | ".join(row) + " |" for row in escaped)


def latex(tables: Sequence[Table]) -> str:
    """Returns tables in LaTeX, which need the package ``booktabs``."""
    return "\n\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    head, *rows = (" & ".join(map(_latex_text, row)) + r" \\" for row in (table.head, *table.rows))
    columns = "l" + "r" * (len(table.head) - 1)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_text(cell: str) -> str:
    replaced = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    letters = (replaced.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in _line(cell))
    return "".join(letters)


def html(tables: Sequence[Table], caption: str, warnings: Sequence[str]) -> str:
    """Returns tables for a notebook. Texts of the data cannot add markup."""
    # Not where the package is imported, which would take longer.
    from html import escape

    parts = []
    for place, table in enumerate(tables):
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
        rows = (
            f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
            for row in table.rows
        )
        title = f"<caption>{escape(caption)}</caption>" if place == 0 else ""
        parts.append(f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
    return "".join(parts) + "".join(f"<p>warning: {escape(warning)}</p>" for warning in warnings)


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def pandas_frame(rows: Sequence[Mapping[str, Any]], numbers: Sequence[str]) -> Any:
    """Returns rows as a ``pandas.DataFrame``, in which an undefined number is NaN."""
    import pandas

    columns = _columns(rows)
    return pandas.DataFrame(columns).astype({name: "float64" for name in numbers if name in columns})


def polars_frame(rows: Sequence[Mapping[str, Any]], numbers: Sequence[str]) -> Any:
    """Returns rows as a ``polars.DataFrame``, in which an undefined number is null."""
    import polars

    columns = _columns(rows)
    kinds = {name: polars.Float64 for name in numbers if name in columns}
    return polars.DataFrame(columns, schema_overrides=kinds)
