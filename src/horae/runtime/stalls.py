"""Watches the event loop from a thread, and logs where the loop is when it stands still.

1. The loop beats twice within the bound.
2. If a beat is overdue by more than the bound, the thread logs `loop.stalled` with the stack of the loop's thread, once
   per stall. The next beat logs `loop.resumed` with the length.
3. A process that was stopped, or got no CPU, does not count: then the watching thread is late, too, and the loop's
   thread has used no CPU.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import format_stack
from typing import Final, NamedTuple

from horae.runtime.telemetry import log

MAX_LOOP_STALL_S: Final = 0.25
"""Seconds that the loop may stand still without a report. Each of its callbacks should take a few milliseconds."""
DEEPEST: Final = 20
"""Frames of the stack that are logged, the innermost ones."""


class Stall(NamedTuple):
    """A stall when it was noticed: its length so far, the CPU time of the loop's thread, and the thread's stack."""

    seconds: float
    cpu_seconds: float
    stack: str


def log_stall(stall: Stall) -> None:
    """Log a stall."""
    log.error(
        "loop.stalled", seconds=round(stall.seconds, 3), cpu_seconds=round(stall.cpu_seconds, 3), stack=stall.stack
    )


@contextmanager
def watch_stalls(bound_s: float = MAX_LOOP_STALL_S) -> Iterator["StallMonitor"]:
    """Watch the running loop while the block runs."""
    monitor = StallMonitor(bound_s)
    monitor.start()
    try:
        yield monitor
    finally:
        monitor.stop()


def cpu_clock_of(thread: int) -> int | None:
    """The clock of a thread's CPU time, for other threads. None on macOS, which has none: then no use is known."""
    find = getattr(time, "pthread_getcpuclockid", None)
    return None if find is None else find(thread)


class StallMonitor:
    """Watches the loop in which it is started. `report` is called in the watching thread, or in the loop's.

    The loop's thread reports a stall by itself, without a stack, if its own callback also kept the watching thread from
    running.
    """

    def __init__(self, bound_s: float = MAX_LOOP_STALL_S, report: Callable[[Stall], None] = log_stall) -> None:
        self._bound = bound_s
        self._report = report
        self._ended = threading.Event()
        self._beats = 0
        self._reported = -1
        self._at = self._cpu = 0.0
        self._next: asyncio.TimerHandle | None = None
        self._watcher: threading.Thread | None = None

    def start(self) -> None:
        """Start watching. Call this inside the loop that is to be watched."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._clock = cpu_clock_of(self._thread)
        self._at, self._cpu = time.monotonic(), time.thread_time()
        self._beat()
        self._watcher = threading.Thread(target=self._watch, name="horae-stalls", daemon=True)
        self._watcher.start()

    @property
    def silence_s(self) -> float:
        """Seconds since the loop has turned last. All threads may read it."""
        return max(0.0, time.monotonic() - self._at)

    def stop(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self._next is not None:
            self._next.cancel()
        if self._watcher is not None:
            self._watcher.join()

    def _beat(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        if self._reported == self._beats:
            log.info("loop.resumed", seconds=round(now - self._at, 3))
        elif cpu - self._cpu > self._bound:  # the callback held the interpreter lock: the watching thread did not run
            self._report(Stall(now - self._at, cpu - self._cpu, ""))
        self._at, self._cpu = now, cpu
        self._beats += 1
        self._next = self._loop.call_later(self._bound / 2, self._beat)

    def _watch(self) -> None:
        looked = time.monotonic()
        while not self._ended.wait(self._bound / 2):
            now = time.monotonic()
            late, looked = now - looked > self._bound, now
            beats, silent = self._beats, now - self._at
            if silent <= 1.5 * self._bound or beats == self._reported:
                continue
            used = 0.0 if self._clock is None else time.clock_gettime(self._clock) - self._cpu
            if (used > self._bound or not late) and beats == self._beats:
                self._reported = beats
                self._report(Stall(silent, used, self._stack()))

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._thread)
        return "" if frame is None else "".join(format_stack(frame)[-DEEPEST:])
