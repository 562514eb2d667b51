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
    """Remembers, for each way of the copies, up to when and when in full it was looked at with success."""

    def __init__(self) -> None:
        self._looked: dict[str, datetime] = {}
        self._full: dict[str, datetime] = {}

    def since(self, way: str, now: datetime) -> datetime:
        """From when on to ask."""
        full, looked = self._full.get(way), self._looked.get(way)
        if full is None or looked is None or now - full >= FULL:
            return BEGINNING
        return looked - SLACK

    def done(self, way: str, since: datetime, now: datetime) -> None:
        """What changed from `since` until `now` has been carried."""
        self._looked[way] = now
        if since == BEGINNING:
            self._full[way] = now
