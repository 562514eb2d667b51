"""`python -m benchmarks.switched node`: the program as it is, with a switch for the check of where calls may go.

SIGUSR1 takes the check out, SIGUSR2 puts it back. Only here, to know what it costs: no setting switches it off.
"""

import os
import signal
import time
from pathlib import Path

from horae.boot.cli import main
from horae.delivery import dial

_CHECK = dial._check


def guard(pid: int, on: bool) -> None:
    """Switch it in a process of this program, once it listens: before that a signal would end it."""
    while not _listens(pid):
        time.sleep(0.05)
    os.kill(pid, signal.SIGUSR2 if on else signal.SIGUSR1)


def _listens(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGUSR2 - 1) & 1)


def _switch(number: int, _frame: object) -> None:
    dial._check = _CHECK if number == signal.SIGUSR2 else lambda *_: None  # type: ignore[assignment]


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _switch)
    signal.signal(signal.SIGUSR2, _switch)
    main()
