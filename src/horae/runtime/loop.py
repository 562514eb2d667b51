"""Background duties. A duty has one public `once()` that says how much it did; the loop owns the rest."""

import asyncio
from typing import Protocol

from horae.runtime.clock import boottime
from horae.runtime.ending import told
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker


class RoundPostponed(Exception):
    """A round cannot be done now, and whoever found out has said why: the loop says nothing more, and tries again."""


class Duty(Protocol):
    """Something to be done again and again. Tests call `once()` themselves."""

    async def once(self) -> int:
        """Do what is there to do now; returns how much that was."""
        ...


class Loop:
    """Runs a duty until stopped: at once again while there is work, else after a pause or a wake-up.

    `went_at` is the tick of its last round that did not fail: that it lives says nothing, that it goes on does.
    """

    def __init__(self, name: str, duty: Duty, pause: float) -> None:
        self.name = name
        self.duty = duty
        self.pause = pause
        self.waker = Waker()
        self.went_at = boottime()
        self._stopping = False

    def stop(self) -> None:
        """Let the current round end and begin no other."""
        self._stopping = True
        self.waker.wake()

    async def run(self) -> None:
        """Until `stop()`, or told to end. A round that fails is logged and tried again after the pause."""
        while not self._stopping and not told():
            done = 0
            try:
                done = await self.duty.once()
                self.went_at = boottime()
            except RoundPostponed:
                pass
            except (Exception, asyncio.CancelledError):  # a library cancels what it lost with a connection, too
                if told():
                    raise
                log.exception("duty.failed", duty=self.name)
            if not done:
                await self.waker.wait(self.pause)
