"""Reads the golden rows of the repository, as the tests in Rust do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "tests" / "golden"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file, without the line about their source. There is at least one."""
    with open(FOLDER / name, encoding="utf-8") as file:
        found = [row for row in map(json.loads, file) if "_about" not in row]
    assert found, name
    return found
