"""Time and result of a peer, as one line of JSON, without the start of Python and the imports."""

import contextlib
import json
import math
import os
import resource
import sys
import time


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(work):
    """Runs `work`, which reads its files and returns {name: number}, and prints what it cost."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        start, used = time.perf_counter(), cpu()
        numbers = work()
        seconds, used = time.perf_counter() - start, cpu() - used
    finite = {
        name: None if value is None or math.isnan(value) else float(value)
        for name, value in numbers.items()
    }
    json.dump({"seconds": seconds, "cpu": used, "numbers": finite}, sys.stdout)
    print(flush=True)


def records(path, field):
    """The values of a JSON Lines file, in order."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)[field] for line in lines]


def lines(path):
    with open(path, encoding="utf-8") as text:
        return text.read().split("\n")[:-1]
