"""Spark Connect, whose client has no access to the driver."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_connect(full):
    pytest.importorskip("grpc")
    script = Path(__file__).with_name("connect.py")
    # A process of its own: a session of the other kind may not be there.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_REMOTE", "PYSPARK_GATEWAY"))}
    words = [sys.executable, str(script), *(["--full"] if full else [])]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
