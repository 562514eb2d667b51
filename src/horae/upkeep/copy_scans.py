"""The scan state of one pair of cells for copies: how far back each scan reads.

A change may be committed after a later one was read, so each scan reads 30 s back. In addition, a full scan goes over
all rows, a few pages per round, so that it delays no change. A copy is only written over an older version, so scans may
overlap.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
SCAN_BACK_SLACK: Final = timedelta(seconds=30)
"""How far a scan reads back."""
MIN_FULL_SCAN_INTERVAL: Final = timedelta(seconds=60)
"""The time between two full scans, at least."""
FULL_SCAN_REST_FACTOR: Final = 5
"""The pause between two full scans is at least this many times the duration of the first."""


class Looks:
    """Remembers the time of the last successful scan, and the progress of the full scan.

    `left` has the kinds of rows that the full scan has not finished, by number, each with the time to continue from.
    """

    def __init__(self, rooms: int) -> None:
        self.left: dict[int, datetime] = {}
        self._rooms = rooms
        self._looked: datetime | None = None
        self._began = self._due = BEGINNING

    def since(self, now: datetime) -> datetime:
        """Returns the time from which the next scan reads changes."""
        return (now if self._looked is None else self._looked) - SCAN_BACK_SLACK

    def record_scan(self, now: datetime) -> None:
        """Record that changes until `now` were copied, or are left to the full scan."""
        self._looked = now

    def begin_full(self, now: datetime) -> None:
        """Begin a full scan if one is due."""
        if not self.left and now >= self._due:
            self.left = dict.fromkeys(range(self._rooms), BEGINNING)
            self._began = now

    def move_full(self, room: int, since: datetime | None, now: datetime) -> None:
        """Record that the full scan continues at `since` in a kind of rows; None: it has finished that kind."""
        if since is not None:
            self.left[room] = since
            return
        self.left.pop(room, None)
        if not self.left:
            self._due = now + max(MIN_FULL_SCAN_INTERVAL, FULL_SCAN_REST_FACTOR * (now - self._began))
