"""The lower bound of a due scan: how far this owner has looked already.

Without it a scan wades through the dead index entries of everything that fired before. It lives in memory only and
is a hint: a row may be committed below it by a transaction that began earlier, so it stays 30 s behind, and an
unbounded sweep runs at takeover, when someone names an earlier time, and every 60 s.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
SLACK: Final = timedelta(seconds=30)
SWEEP: Final = timedelta(seconds=60)


class Front:
    """One scan's memory."""

    def __init__(self) -> None:
        self._seen: datetime | None = None
        self._swept_at: datetime | None = None
        self._sweeping = False

    def low(self, now: datetime) -> datetime:
        """From where to look now."""
        if self._seen is None or self._swept_at is None or now - self._swept_at >= SWEEP:
            self._sweeping = True
        if self._sweeping or self._seen is None:
            return BEGINNING
        return self._seen - SLACK

    def drained(self, now: datetime) -> None:
        """The look found everything up to `now`. Only then does the bound move."""
        if self._sweeping:
            self._swept_at, self._sweeping = now, False
        self._seen = now

    def name(self, at: datetime) -> None:
        """Someone names an earlier time: reach back to it."""
        if self._seen is not None:
            self._seen = min(self._seen, at + SLACK)

    def reset(self) -> None:
        """Look at everything again: a shard was taken over."""
        self._seen = None
