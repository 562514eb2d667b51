"""The lower bound of a due scan: how far this owner has looked already.

Without it a scan wades through the dead index entries of everything that fired before. It lives in memory only and
is a hint: a row may be committed below it by a transaction that began earlier. So every look reaches a little back,
one look a second reaches back further than any transaction may last, and an unbounded sweep runs at takeover, and
every 60 s. Reaching far back at every look would cost a busy cell more than the looks themselves.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
NEAR: Final = timedelta(milliseconds=500)
SLACK: Final = timedelta(seconds=30)
REACH: Final = timedelta(seconds=1)
SWEEP: Final = timedelta(seconds=60)


class Front:
    """One scan's memory."""

    def __init__(self) -> None:
        self._seen: datetime | None = None
        self._reached_at: datetime | None = None
        self._swept_at: datetime | None = None
        self._reaching = self._sweeping = False

    def low(self, now: datetime) -> datetime:
        """From where to look now."""
        self._sweeping = self._sweeping or _due(self._swept_at, now, SWEEP)
        self._reaching = self._reaching or _due(self._reached_at, now, REACH)
        if self._seen is None or self._sweeping:
            return BEGINNING
        return self._seen - (SLACK if self._reaching else NEAR)

    def drained(self, now: datetime) -> None:
        """The look found everything up to `now`. Only then does the bound move."""
        if self._sweeping:
            self._swept_at, self._sweeping = now, False
        if self._reaching:
            self._reached_at, self._reaching = now, False
        self._seen = now

    def name(self, at: datetime) -> None:
        """Someone names an earlier time: reach back to it."""
        if self._seen is not None:
            self._seen = min(self._seen, at + NEAR)

    def reset(self) -> None:
        """Look at everything again: a shard was taken over."""
        self._seen = self._swept_at = None


def _due(last: datetime | None, now: datetime, every: timedelta) -> bool:
    return last is None or now - last >= every
