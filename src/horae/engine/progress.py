"""Checks whether a node makes progress, not only whether its process runs.

A process may answer requests while one of its connections has been dead for minutes. So every loop records its last
successful round, and this duty looks at these times.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.loop import Loop
from horae.runtime.telemetry import log

ALARM_AFTER_S: Final = 10.0
"""Seconds without a successful round, beyond two pauses of the loop, until an alarm is logged."""


class ProgressWatch:
    """A duty: `stuck` has the names of everything that makes no progress."""

    def __init__(self, signs: Mapping[str, Callable[[], bool]], *, patience: float = ALARM_AFTER_S) -> None:
        self.stuck: Sequence[str] = ()
        self._signs = dict(signs)
        self._patience = patience

    def watch(self, name: str, loop: Loop) -> None:
        """Watch a loop."""
        most = 2 * loop.pause + self._patience
        self._signs[name] = lambda: boottime() - loop.last_success_at < most

    async def once(self) -> int:
        """Check every sign and log what changed; returns 0."""
        stuck = [name for name, well in self._signs.items() if not well()]
        if new := [name for name in stuck if name not in self.stuck]:
            log.error("node.stuck", what=new)
        if over := [name for name in self.stuck if name not in stuck]:
            log.info("node.recovered", what=over)
        self.stuck = stuck
        return 0
