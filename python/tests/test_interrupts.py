"""Ctrl-C ends long calls soon, on any number of threads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

CALLS = {
    "texts": "metric_suite.wer(predictions=[A] * 2_000_000, references=[B] * 2_000_000, threads={threads})",
    "replicates": "metric_suite.bleu(predictions=[A] * 5000, references=[B] * 5000, resamples=1_000_000, threads={threads})",
    "trials": "metric_suite.compare('bleu', predictions=[[A, B] * 2500, [B, A] * 2500], references=[B] * 5000, permutations=10**8, threads={threads})",
    "file": "metric_suite.score_files('bleu', 'pairs.jsonl', resamples=1_000_000, threads={threads})",
}
START = "import metric_suite; A, B = 'a b c d e f g h ' * 30, 'a c c d e f g i ' * 30; print('started', flush=True); "


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent to one process there")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_a_long_call_ends(name, threads, tmp_path):
    rows = (json.dumps({"id": row, "reference": "a b c d e", "prediction": "a b c d f"}) for row in range(5000))
    (tmp_path / "pairs.jsonl").write_text("\n".join(rows))
    code = START + CALLS[name].format(threads=threads)
    call = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        call.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            call.wait(timeout=2)
        call.send_signal(signal.SIGINT)
        _, errors = call.communicate(timeout=60)
    finally:
        call.kill()
    assert errors.strip().splitlines()[-1] == "KeyboardInterrupt"


def test_a_handler_that_returns_ends_nothing():
    code = (
        "import metric_suite, signal, threading, os\n"
        "signal.signal(signal.SIGALRM, lambda *_: print('heard', flush=True))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.1)\n"
        "print(metric_suite.bleu(predictions=['a b'] * 2000, references=['a b'] * 2000, resamples=20_000, max_order=1)['bleu'] > 0.9)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["True", "heard"]
