"""Background duties. A duty has a public `once()` that returns how much it did; the loop does the rest."""

import asyncio
from typing import Protocol

from horae.runtime.cancellation import cancellation_requested
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker


class RoundPostponed(Exception):
    """A round cannot be done now, and the reason was logged already: the loop logs nothing and tries again."""


class Duty(Protocol):
    """Work that is repeated. Tests call `once()` themselves."""

    async def once(self) -> int:
        """Do one round; returns how much was done. The loop repeats at once unless this is 0."""
        ...


class Loop:
    """Runs a duty until stopped: again at once while there is work, otherwise after `pause` seconds or a wake-up.

    `last_success_at` is the tick of the last successful round: it shows whether the duty makes progress.
    """

    def __init__(self, name: str, duty: Duty, pause: float, waker: Waker | None = None) -> None:
        """`waker`: a waker that others have already, because they are made before the loop."""
        self.name = name
        self.duty = duty
        self.pause = pause
        self.waker = waker or Waker()
        self.last_success_at = boottime()
        self._stopping = False

    def stop(self) -> None:
        """Let the current round end, and start no other."""
        self._stopping = True
        self.waker.wake()

    async def run(self) -> None:
        """Run rounds until `stop()` or a cancellation. A failed round is logged, and repeated after the pause."""
        while not self._stopping and not cancellation_requested():
            done = 0
            try:
                done = await self.duty.once()
                self.last_success_at = boottime()
            except RoundPostponed:
                pass
            except (Exception, asyncio.CancelledError):  # a library may raise CancelledError for a lost connection
                if cancellation_requested():
                    raise
                log.exception("duty.failed", duty=self.name)
            if not done:
                await self.waker.wait(self.pause)
            else:
                await asyncio.sleep(0)  # a round that waited for nothing would let no other task run
