"""Whether a cell can be reached. Every caller contributes what it observes, and each change is logged once.

An answered statement proves that the cell is up. A lost or refused connection proves that it is down. So no caller has
to find this out again: a caller that asks many cells waits only briefly for one that is known to be down.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log, time_ago

FIRST_ANSWER_TIMEOUT_S: Final = 1.0
LATER_ANSWER_TIMEOUT_S: Final = 0.2
"""For an outage that has lasted `LONG_OUTAGE_S`: every request for a list pays this time."""
LONG_OUTAGE_S: Final = 5.0
PROBE_INTERVAL_S: Final = 5.0
BRIEF_CONNECT_TIMEOUT_S: Final = 0.5
"""For a connection to a cell that is down. One caller in each `PROBE_INTERVAL_S` waits for the full time instead."""


_hurried: ContextVar[bool] = ContextVar("hurried", default=False)


@contextmanager
def wait_briefly() -> Iterator[None]:
    """Wait only briefly for connections in this block: it is never the caller that waits for the full time."""
    token = _hurried.set(True)
    try:
        yield
    finally:
        _hurried.reset(token)


class Reach:
    """The reachability of one cell from this process. All threads may use it.

    `down_at` is the tick at which the last outage began; None if there was none since `forget_outage`.
    """

    def __init__(self, cell: str) -> None:
        self.is_down = False
        self._cell = cell
        self.down_at: float | None = None
        self._down_at = 0.0
        self._probed_at: float | None = None

    def mark_down(self, error: BaseException, *, connecting: bool = False) -> None:
        """Record that the cell could not be reached; `connecting`: a new connection failed, too."""
        if connecting and self._probed_at is None:
            self._probed_at = boottime()
        if not self.is_down:
            self.is_down, self._down_at = True, boottime()
            self.down_at = self._down_at if self.down_at is None else self.down_at
            log.warning("cell.unreachable", cell=self._cell, reason=str(error) or type(error).__name__)

    def mark_up(self) -> None:
        """Record that the cell has answered."""
        if self.is_down:
            self.is_down, self._probed_at = False, None
            seconds = boottime() - self._down_at
            log.info("cell.reachable", cell=self._cell, down_since=time_ago(seconds), seconds=round(seconds, 1))

    def forget_outage(self) -> None:
        """Forget when the last outage began, unless it still lasts: it has been logged."""
        if not self.is_down:
            self.down_at = None

    @property
    def down_s(self) -> float:
        """Seconds since the cell could last be reached; 0 while it can."""
        return boottime() - self._down_at if self.is_down else 0.0

    @property
    def patience_s(self) -> float | None:
        """Seconds that a request to many cells waits for this one; None: as long as for any statement."""
        if not self.is_down:
            return None
        return FIRST_ANSWER_TIMEOUT_S if boottime() - self._down_at < LONG_OUTAGE_S else LATER_ANSWER_TIMEOUT_S

    def connecting_s(self, usual_s: float) -> float:
        """Seconds to wait for a connection now. While the cell is down, most callers wait only briefly."""
        if not self.is_down or self._probed_at is None:
            return usual_s
        now = boottime()
        if _hurried.get() or now - self._probed_at < PROBE_INTERVAL_S:
            return min(BRIEF_CONNECT_TIMEOUT_S, usual_s)
        self._probed_at = now
        return usual_s
