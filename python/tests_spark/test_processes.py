"""Sessions that need a process of their own: Spark Connect, and a cluster that repeats slow tasks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["connect.py", "speculation.py"])
def test_script(name, full):
    if name == "connect.py":
        pytest.importorskip("grpc")
    script = Path(__file__).with_name(name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_REMOTE", "PYSPARK_GATEWAY"))}
    words = [sys.executable, str(script), *(["--full"] if full else [])]
    done = subprocess.run(words, env=kept, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
