"""Writes ``metric_suite/_generated.pyi``: the types of the function and the class of each metric.

Run ``python generate.py`` where the package is installed; ``--check`` only tells whether the file is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "metric_suite" / "_generated.pyi"

HEAD = '''"""The types of the function and the class of each metric. Written by ``generate.py`` from the list of metrics."""

# fmt: off
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from ._metric import Metric
from ._result import CocoResult, Result
'''


def documented(text: str, indent: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = escaped.splitlines()
    return "\n".join([f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:]), f'{indent}"""'])


def written(entries: list[dict[str, Any]]) -> str:
    from metric_suite import _functions as made

    parts = [HEAD]
    for entry in entries:
        items = [(name, kind, repr(default)) for name, kind, default, _ in made.arguments(entry)]
        signature = "".join(f"    {name}: {kind} = {default},\n" for name, kind, default in items)
        sides = "".join(f"    {side}: Any,\n" for side in made.sides_of(entry["name"]))
        parts.append(
            f"def {made.python_name(entry['name'])}(\n    *,\n{sides}{signature})"
            f" -> {made.result_type(entry)}:\n{documented(made.function_doc(entry), '    ')}\n"
        )
        items = [(name, kind, repr(default)) for name, kind, default, _ in made.class_arguments(entry)]
        signature = "".join(f"        {name}: {kind} = {default},\n" for name, kind, default in items)
        parts.append(
            f"class {entry['class_name']}(Metric):\n{documented(made.class_doc(entry), '    ')}\n"
            f"    def __init__(\n        self,\n        *,\n{signature}    ) -> None: ...\n"
        )
    names = [made.python_name(entry["name"]) for entry in entries]
    names += [entry["class_name"] for entry in entries]
    parts.append("CLASSES: dict[str, type[Metric]]\n")
    parts.append(f"__all__ = [\n{''.join(f'    {name!r},{chr(10)}' for name in names)}]\n")
    return "\n".join(parts)


def main() -> int:
    from metric_suite._metric import _entries

    text = written(_entries())
    if "--check" in sys.argv:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
