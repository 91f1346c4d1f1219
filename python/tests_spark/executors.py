"""The executors of a session, which are processes below this one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

_BACKEND = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def _parent(process: int) -> int:
    # After the name, which is in parentheses and may have spaces, come the state and the parent.
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _is_ours(process: int) -> bool:
    while process > 1:
        if process == os.getpid():
            return True
        process = _parent(process)
    return False


def executors() -> list[int]:
    """Returns the processes of executors that are ours."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # The program itself, and not one that only names it, such as its script.
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if arguments[0].endswith(b"java") and _BACKEND in arguments and _is_ours(int(folder.name)):
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
    return found


def kill_one() -> int:
    """Kills an executor as the system does when memory is short."""
    process = executors()[0]
    os.kill(process, signal.SIGKILL)
    return process
