"""Whether a node gets on with its work: asked by what it has done, not by whether it still runs.

A process may answer every question while one of its connections has been dead for a quarter of an hour. So everything
that should come round again and again says when it last did.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.loop import Loop
from horae.runtime.telemetry import log

PATIENCE: Final = 10.0
"""Seconds without a round, beyond two pauses, that are worth an alarm."""


class Progress:
    """A duty: `stuck` names what has come to a standstill; empty while all is well."""

    def __init__(self, signs: Mapping[str, Callable[[], bool]], *, patience: float = PATIENCE) -> None:
        self.stuck: Sequence[str] = ()
        self._signs = dict(signs)
        self._patience = patience

    def watch(self, name: str, loop: Loop) -> None:
        """This loop should come round."""
        most = 2 * loop.pause + self._patience
        self._signs[name] = lambda: boottime() - loop.went_at < most

    async def once(self) -> int:
        """Look at every sign, and say what changed; returns 0."""
        stuck = [name for name, well in self._signs.items() if not well()]
        for name in set(stuck).difference(self.stuck):
            log.error("node.stuck", what=name)
        for name in set(self.stuck).difference(stuck):
            log.info("node.goes_on", what=name)
        self.stuck = stuck
        return 0
