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
    assert run.returncode == expected.get("exit", 0), run.stderr
    for part in expected.get("stderr_contains", []):
        assert any(word.lower() in run.stderr.lower() for word in part.split("|")), run.stderr
    for part in expected.get("stdout_contains", []):
        assert any(word.lower() in run.stdout.lower() for word in part.split("|")), run.stdout
    for part in expected.get("lacks", []):
        assert part.lower() not in (run.stdout + run.stderr).lower()
    if expected.get("scores"):
        scores = json.loads(run.stdout)["scores"]
        for name, value in expected["scores"].items():
            found = scores[name]
            assert found is value if value is None else math.isclose(found, value, rel_tol=1e-9), name
