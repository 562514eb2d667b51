"""How far back the looks of one way of copies reach.

A change may be committed after a later one was seen, so each look reaches 30 s back. Beside those a full look goes over
all rows, a few pages in each round: it keeps no change waiting, however many rows there are. A copy is written only
over an older version, hence looks may overlap as they like.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
SLACK: Final = timedelta(seconds=30)
FULL: Final = timedelta(seconds=60)
"""Between two full looks at least."""
REST: Final = 5
"""Between two full looks there is so many times the time that the first took."""


class Looks:
    """Remembers up to when one way was looked at with success, and how far its full look has come.

    `left` has the rooms that the full look is not through with, by number, each with the time from which on to ask.
    """

    def __init__(self, rooms: int) -> None:
        self.left: dict[int, datetime] = {}
        self._rooms = rooms
        self._looked: datetime | None = None
        self._began = self._due = BEGINNING

    def since(self, now: datetime) -> datetime:
        """From when on to ask for what changed lately."""
        return (now if self._looked is None else self._looked) - SLACK

    def looked(self, now: datetime) -> None:
        """What changed until `now` has been carried, or is left to the full look."""
        self._looked = now

    def begin_full(self, now: datetime) -> None:
        """Begin a full look if it is time for one."""
        if not self.left and now >= self._due:
            self.left = dict.fromkeys(range(self._rooms), BEGINNING)
            self._began = now

    def move_full(self, room: int, since: datetime | None, now: datetime) -> None:
        """The full look goes on from `since` in a room; None: it is through with it."""
        if since is not None:
            self.left[room] = since
            return
        self.left.pop(room, None)
        if not self.left:
            self._due = now + max(FULL, REST * (now - self._began))
