"""Notifies nodes that something is due soon: after the commit, and at most 20 times a second.

PostgreSQL notifies under a lock that all commits of the database share. So a notification is never part of the
transaction that writes data: it has a connection of its own, and all wakes of 50 ms are merged into one. No caller
waits for it. A failed notification only costs delay.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from horae.domain.nodes.wakes import Wake, encode, merge_wakes, wake_of
from horae.runtime.clock import Clock
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.store.connections.direct_connection import DirectConnection
from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.direct_connection import Connection

WAKE_GAP_S: Final = 0.05
FAILURE_PAUSE_S: Final = 1.0
NOTIFY_TIMEOUT_S: Final = 2.0
FLUSH_TIMEOUT_S: Final = 1.0
CHANNEL: Final = "horae_wake"


class NotifiedCell(Protocol):
    """What a notification needs of a cell."""

    @property
    def name(self) -> str:
        """The name of the cell."""

    @property
    def dsn(self) -> str:
        """The address of the cluster itself: a pooler would not pass a notification on."""

    @property
    def clock(self) -> Clock:
        """The clock of the cluster."""


class Wakes:
    """Takes wakes for any shard and notifies the cells that hold them. One per process."""

    def __init__(self, cell_of: Callable[[int], NotifiedCell]) -> None:
        self._cell_of = cell_of
        self._senders: dict[str, WakeSender] = {}

    def wake(self, shard: int, at: datetime | None) -> None:
        """Notify that something in a shard is due at `at`. Call it after the commit; it never waits and never fails."""
        if at is not None:
            self.wake_all(self._cell_of(shard), [(shard, at)])

    def wake_all(self, cell: NotifiedCell, due: Iterable[tuple[int, datetime]]) -> None:
        """Like `wake`, for many times in shards of one cell, as one notification."""
        wake = wake_of(due, cell.clock.now())
        if wake is not None:
            if cell.name not in self._senders:
                self._senders[cell.name] = WakeSender(cell)
            self._senders[cell.name].send_soon(wake)

    async def close(self) -> None:
        """Send pending wakes within a second. Without this, a process that ends at once would never send them."""
        await asyncio.gather(*(teller.close() for teller in self._senders.values()))
        self._senders.clear()


class WakeSender:
    """Sends the notifications of this process to one cell."""

    def __init__(self, cell: NotifiedCell) -> None:
        self._cell = cell
        self._pending: list[Wake] = []
        self._line = DirectConnection(cell.dsn, "wake", patience=NOTIFY_TIMEOUT_S)
        self._sending: asyncio.Task[None] | None = None
        self._rest = Waker()
        self._failing = False

    def send_soon(self, wake: Wake) -> None:
        """Send a wake soon, merged with all others that arrive until then."""
        self._pending = [merge_wakes([*self._pending, wake])]
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        """Send pending wakes and close the connection."""
        if self._sending is not None:
            self._rest.wake()
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_TIMEOUT_S):
                    await self._sending
        await self._line.close()

    async def _send(self) -> None:
        """Send the first wake at once and later ones 50 ms apart, until none is pending."""
        while self._pending:
            [wake], self._pending = self._pending, []
            await self._rest.wait(WAKE_GAP_S if await self._try_send(wake) else FAILURE_PAUSE_S)

    async def _try_send(self, wake: Wake) -> bool:
        """Send or drop a wake; returns whether it was sent. Logs only the first of several failures."""
        try:
            await self._line.call(lambda connection: notify(connection, wake))
        except Exception as error:
            if not self._failing:
                log.warning("wake.not_sent", cell=self._cell.name, error=repr(error))
            self._failing = True
        else:
            self._failing = False
        return not self._failing


async def notify(connection: "Connection", wake: Wake) -> None:
    """Notify every listener of the cell."""
    await connection.execute(sql("nodes/wakes/notify"), encode(wake).decode())


async def ping(connection: "Connection") -> None:
    """Check that the server still answers."""
    await connection.execute(sql("nodes/wakes/ping"))
