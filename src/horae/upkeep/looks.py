"""How far back a look for changed rows reaches.

A change may be committed after a later one was seen, so each look reaches 30 s back, and a full one runs every
minute. A copy is written only over an older version, hence looks may overlap as they like.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
SLACK: Final = timedelta(seconds=30)
FULL: Final = timedelta(seconds=60)


class Looks:
    """Remembers, for each home, when it was looked at."""

    def __init__(self) -> None:
        self._looked: dict[str, datetime] = {}
        self._full: dict[str, datetime] = {}

    def since(self, home: str, now: datetime) -> datetime:
        """From when on to ask."""
        full = self._full.get(home)
        if full is None or now - full >= FULL:
            self._full[home] = now
            return BEGINNING
        return self._looked[home] - SLACK

    def done(self, home: str, now: datetime) -> None:
        """What there was as of `now` has been carried."""
        self._looked[home] = now
