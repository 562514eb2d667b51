"""Receives the wakes of one cell, on a connection of its own.

A dead connection looks like a quiet one, so each round asks the server for an answer. After an interruption, everything
that may have been missed is reported as one wake for all shards.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from horae.domain.nodes.wakes import WAKE_HORIZON, WAKE_LOOK_BACK, Wake, decode, merge_wakes
from horae.runtime.telemetry import log
from horae.store.connections.direct_connection import CONNECT_TIMEOUT_S, DirectConnection
from horae.store.nodes import wakes
from horae.store.protocol import CellProtocol

if TYPE_CHECKING:
    from horae.store.connections.direct_connection import Connection

Woken = Callable[[Wake], None]
WAKE_MERGE_S: Final = 0.01
PING_TIMEOUT_S: Final = 2.0


class Listener:
    """A duty: `once()` checks the connection and reconnects if needed. Notifications arrive in between, merged."""

    def __init__(self, cell: CellProtocol, woken: Woken, *, patience: float = PING_TIMEOUT_S) -> None:
        self.cell = cell
        self._woken = woken
        self._line = DirectConnection(
            cell.dsn, "listener", patience=patience, connect=min(CONNECT_TIMEOUT_S, patience), opened=self._listen
        )
        self.is_stalled = False
        self._heard: list[Wake] = []
        self._sure_until: datetime | None = None

    async def once(self) -> int:
        """Ping the server, on a new connection if the old one does not answer; returns 0."""
        for last in (False, True):
            try:
                await self._line.call(wakes.ping)
            except Exception as error:
                if last and not self.is_stalled:
                    self.is_stalled = True
                    if not self.cell.reach.is_down:  # the log says so already
                        log.warning("listener.stalled", cell=self.cell.name, error=repr(error))
            else:
                self._sure_until = self.cell.clock.now()
                self.is_stalled = False
                break
        return 0

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    async def _listen(self, connection: "Connection") -> None:
        await connection.add_listener(wakes.CHANNEL, self._on_notify)
        now = self.cell.clock.now()
        self._report(Wake(None, (self._sure_until or now) - WAKE_LOOK_BACK, now + WAKE_HORIZON))

    def _on_notify(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        try:
            wake = decode(str(payload))
        except msgspec.DecodeError:  # from a newer release or a person: look at everything that is near
            now = self.cell.clock.now()
            wake = Wake(None, now - WAKE_LOOK_BACK, now + WAKE_HORIZON)
        self._report(wake)

    def _report(self, wake: Wake) -> None:
        if not self._heard:
            asyncio.get_running_loop().call_later(WAKE_MERGE_S, self._deliver)
        self._heard.append(wake)

    def _deliver(self) -> None:
        heard, self._heard = self._heard, []
        self._woken(merge_wakes(heard))
