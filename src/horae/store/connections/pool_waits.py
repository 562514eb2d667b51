"""How long callers wait for a connection of a pool."""

from typing import Final

MIN_WAIT_S: Final = 0.001
"""A shorter wait is no wait: a connection was idle, and the event loop did something else first."""


class PoolWaits:
    """The waits for connections of one pool since the process began.

    `waits` are those of at least a millisecond, also for a new connection to open. `timeouts` got no connection.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits = 0
        self.timeouts = 0

    def add(self, seconds: float) -> None:
        """Add the time that one caller needed to get a connection."""
        if seconds >= MIN_WAIT_S:
            self.seconds += seconds
            self.waits += 1
