"""How often to write: at once while there is little, under load seldom enough for batches worth their commit."""

from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime

BUSY: Final = 1000.0
"""Rows a second from which on the share of commits is bounded, instead of their number."""

REMEMBERED: Final = 0.5


class Pace:
    """At most `per_second` batches a second while it is quiet, and `per_row` batches a row when it is not."""

    def __init__(self, per_second: float, per_row: float, now: Callable[[], float] = boottime) -> None:
        self._quiet = 1 / per_second
        self._per_row = per_row
        self._now = now
        self._last = -1.0
        self._rate = 0.0
        self._counted_at = now()
        self._counted = 0

    def wait_s(self) -> float:
        """Seconds until the next batch may go; not above zero: now."""
        gap = 1 / (self._rate * self._per_row) if self._rate > BUSY else self._quiet
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
