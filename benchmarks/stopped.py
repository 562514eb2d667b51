"""PostgreSQL as a whole: all of its processes, stopped and continued by signals."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def processes_of(postmaster: int) -> list[int]:
    """The processes of a server, the one that started the others first."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]


def send_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to all of these that still run."""
    for pid in pids:
        with suppress(ProcessLookupError):  # its connection has ended
            os.kill(pid, number)
