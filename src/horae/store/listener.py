"""Hearing the wakes of one cell, on a connection of its own.

A connection that died without a word looks like one on which nothing happens, so each round asks the server to
answer. After a break everything that may have been missed is reported as one wake over all shards.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from horae.domain.wakes import HORIZON, LATE, Wake, decode, merged
from horae.runtime.telemetry import log
from horae.store import wakes
from horae.store.cells import Cell
from horae.store.line import CONNECT, Line

if TYPE_CHECKING:
    from horae.store.line import Connection

Woken = Callable[[Wake], None]
MERGE: Final = 0.01
PATIENCE: Final = 2.0


class Listener:
    """A duty: `once()` makes sure that we are heard and hear. Notifications arrive in between, merged."""

    def __init__(self, cell: Cell, woken: Woken, *, patience: float = PATIENCE) -> None:
        self.cell = cell
        self._woken = woken
        self._line = Line(cell.dsn, "listener", patience=patience, connect=min(CONNECT, patience), opened=self._listen)
        self.deaf = False
        self._heard: list[Wake] = []
        self._sure_until: datetime | None = None

    async def once(self) -> int:
        """Ask for a sign of life, on a new connection if this one gives none; returns 0: there is no more to do."""
        for last in (False, True):
            try:
                await self._line.call(wakes.ping)
            except Exception as error:
                if last and not self.deaf:
                    self.deaf = True
                    log.warning("listener.deaf", cell=self.cell.name, error=repr(error))
            else:
                self._sure_until = self.cell.clock.now()
                self.deaf = False
                break
        return 0

    async def close(self) -> None:
        """Hang up."""
        await self._line.close()

    async def _listen(self, connection: "Connection") -> None:
        await connection.add_listener(wakes.CHANNEL, self._hear)
        now = self.cell.clock.now()
        self._report(Wake(None, (self._sure_until or now) - LATE, now + HORIZON))

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        try:
            wake = decode(str(payload))
        except msgspec.DecodeError:  # a newer release, or someone at a prompt: look at all that is near
            now = self.cell.clock.now()
            wake = Wake(None, now - LATE, now + HORIZON)
        self._report(wake)

    def _report(self, wake: Wake) -> None:
        if not self._heard:
            asyncio.get_running_loop().call_later(MERGE, self._deliver)
        self._heard.append(wake)

    def _deliver(self) -> None:
        heard, self._heard = self._heard, []
        self._woken(merged(heard))
