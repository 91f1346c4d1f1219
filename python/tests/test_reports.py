"""Cases made after public bug reports, in tests/golden/reports: those that are scripts."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "tests" / "golden" / "reports"
SCRIPTS = sorted([*ROOT.glob("*/*/script.py"), *ROOT.glob("*/*/case.py")])


def test_the_cases_are_there() -> None:
    assert len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_case(script: Path, tmp_path: Path) -> None:
    shutil.copytree(script.parent, tmp_path, dirs_exist_ok=True)
    expected = json.loads((tmp_path / "expect.json").read_text())
    run = subprocess.run([sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    others = expected.get("or", [])
    accepted = [expected, *([others] if isinstance(others, dict) else others)]
    problems = [differences(one, run) for one in accepted]
    assert [] in problems, problems


def differences(expected: dict, run: subprocess.CompletedProcess) -> list[str]:
    """Returns what one set of expectations lacks."""
    found = [] if run.returncode == expected.get("exit", 0) else [f"exit code {run.returncode}: {run.stderr}"]
    for name, text in (("stderr_contains", run.stderr), ("stdout_contains", run.stdout)):
        parts = expected.get(name, [])
        found += [f"no {part!r}: {text}" for part in parts if not any(word.lower() in text.lower() for word in part.split("|"))]
    found += [f"has {part!r}" for part in expected.get("lacks", []) if part.lower() in (run.stdout + run.stderr).lower()]
    if expected.get("scores"):
        printed = json.loads(run.stdout)
        # A script with one score may print its number alone.
        scores = printed["scores"] if isinstance(printed, dict) else dict.fromkeys(expected["scores"], printed)
        for name, value in expected["scores"].items():
            is_right = scores[name] is value if value is None else math.isclose(scores[name], value, rel_tol=1e-9)
            found += [] if is_right else [f"{name} is {scores[name]}"]
    return found
