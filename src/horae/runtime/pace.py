"""How often to write: at once while there is little, under load seldom enough for batches worth their commit."""

from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime

BUSY: Final = 1000.0
"""Rows a second from which on the share of commits is bounded, instead of their number."""

REMEMBERED: Final = 0.5


class Pace:
    """While it is quiet a batch may go `quiet` seconds after the last.

    When it is not, at most `per_row` batches go for a row, and none within `busy` seconds of the last.
    """

    def __init__(self, quiet: float, per_row: float, busy: float, now: Callable[[], float] = boottime) -> None:
        self._quiet = quiet
        self._per_row = per_row
        self._busy = busy
        self._now = now
        self._last = -1.0
        self._rate = 0.0
        self._counted_at = now()
        self._counted = 0

    def wait_s(self) -> float:
        """Seconds until the next batch may go; not above zero: now."""
        gap = max(1 / (self._rate * self._per_row), self._busy) if self._rate > BUSY else self._quiet
        return self._last + gap - self._now()

    def spent(self, rows: int) -> None:
        """A batch has gone."""
        now = self._now()
        self._last = now
        self._counted += rows
        passed = now - self._counted_at
        if passed >= REMEMBERED:
            self._rate = self._counted / passed
            self._counted_at, self._counted = now, 0
