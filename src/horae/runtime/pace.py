"""How often to write batches: at once while there is little load, and rarely enough for large batches under load."""

from collections.abc import Callable
from typing import Final

from horae.runtime.clock import boottime

BUSY_ROWS_PER_S: Final = 1000.0
"""Rows per second from which on the load counts as high."""

RATE_WINDOW_S: Final = 0.5
"""Seconds over which the rate of rows is measured."""


class BatchPace:
    """While the load is low, a batch may go `quiet_s` after the last one.

    Under high load at most `batches_per_row` batches go per row, and none within `busy_s` of the last one.
    """

    def __init__(
        self, *, quiet_s: float, batches_per_row: float, busy_s: float, now: Callable[[], float] = boottime
    ) -> None:
        self._quiet_s = quiet_s
        self._batches_per_row = batches_per_row
        self._busy_s = busy_s
        self._now = now
        self._last = -1.0
        self._rate = 0.0
        self._counted_at = now()
        self._counted = 0

    def wait_s(self) -> float:
        """Seconds until the next batch may go; zero or less: now."""
        gap_s = self._quiet_s
        if self._rate > BUSY_ROWS_PER_S:
            gap_s = max(1 / (self._rate * self._batches_per_row), self._busy_s)
        return self._last + gap_s - self._now()

    def count_batch(self, rows: int) -> None:
        """Count a batch that goes now."""
        now = self._now()
        self._last = now
        self._counted += rows
        passed = now - self._counted_at
        if passed >= RATE_WINDOW_S:
            self._rate = self._counted / passed
            self._counted_at, self._counted = now, 0
