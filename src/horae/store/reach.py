"""Whether a cell can be reached, as everyone who asks it finds out: told once when that changes, whoever asks.

A statement that is answered says that the cell is there, a connection that is lost or refused says that it is not. So
nobody has to find out for himself: whoever asks many cells waits only briefly for one that is known to be down.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

FIRST_PATIENCE_S: Final = 1.0
LATER_PATIENCE_S: Final = 0.2
"""For an outage that has lasted `LONG_S`: whoever asks for a list pays this again and again."""
LONG_S: Final = 5.0
PROBE_INTERVAL_S: Final = 5.0
BRIEF_S: Final = 0.5
"""For a connection to a cell that is down, but for one that tries in earnest in each `PROBE_INTERVAL_S`."""


_hurried: ContextVar[bool] = ContextVar("hurried", default=False)


@contextmanager
def hurrying() -> Iterator[None]:
    """Whoever asks in this block gives up soon: he is not the one who tries in earnest."""
    token = _hurried.set(True)
    try:
        yield
    finally:
        _hurried.reset(token)


class Reach:
    """One cell as this process reaches it. Any thread may tell and ask."""

    def __init__(self, cell: str) -> None:
        self.is_down = False
        self._cell = cell
        self._down_at = 0.0
        self._probed_at: float | None = None

    def lose(self, error: BaseException, *, connecting: bool = False) -> None:
        """The cell could not be reached just now; `connecting`: not by a new connection either."""
        if connecting and self._probed_at is None:
            self._probed_at = boottime()
        if not self.is_down:
            self.is_down, self._down_at = True, boottime()
            log.warning("cell.unreachable", cell=self._cell, reason=str(error) or type(error).__name__)

    def find(self) -> None:
        """The cell has answered."""
        if self.is_down:
            self.is_down, self._probed_at = False, None
            log.info("cell.reachable", cell=self._cell, seconds=round(boottime() - self._down_at, 1))

    @property
    def patience_s(self) -> float | None:
        """Seconds that a question to many cells waits for this one; None: as long as for any statement."""
        if not self.is_down:
            return None
        return FIRST_PATIENCE_S if boottime() - self._down_at < LONG_S else LATER_PATIENCE_S

    def connecting_s(self, usual_s: float) -> float:
        """Seconds that someone waits for a connection now: many in a row would each wait for nothing."""
        if not self.is_down or self._probed_at is None:
            return usual_s
        now = boottime()
        if _hurried.get() or now - self._probed_at < PROBE_INTERVAL_S:
            return min(BRIEF_S, usual_s)
        self._probed_at = now
        return usual_s
