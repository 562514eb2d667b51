"""Telling nodes that something became due soon: after the commit, outside of it, and at most 20 times a second.

A notification takes a lock over all commits of its database, so it never travels with data: it has its own
connection, and what is asked for within 50 ms is one. Nobody waits for it, and a failure costs nothing but delay.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final

from horae.domain.wakes import Wake, encode, merged, wake_of
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.store.line import Line
from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.cells import Cell
    from horae.store.line import Connection

APART: Final = 0.05
AFTER_FAILURE: Final = 1.0
PATIENCE: Final = 2.0
FLUSH: Final = 1.0
CHANNEL: Final = "horae_wake"


class Wakes:
    """One per process: takes wakes for any shard and tells the cells that hold them."""

    def __init__(self, cell_of: "Callable[[int], Cell]") -> None:
        self._cell_of = cell_of
        self._tellers: dict[str, Teller] = {}

    def wake(self, shard: int, at: datetime | None) -> None:
        """Something in a shard is due at `at`. Call it after the commit; it never waits and never fails."""
        if at is not None:
            self.wake_all(self._cell_of(shard), [(shard, at)])

    def wake_all(self, cell: "Cell", due: Iterable[tuple[int, datetime]]) -> None:
        """The same for many times in shards of one cell, told as one."""
        wake = wake_of(due, cell.clock.now())
        if wake is not None:
            if cell.name not in self._tellers:
                self._tellers[cell.name] = Teller(cell)
            self._tellers[cell.name].tell(wake)

    async def close(self) -> None:
        """Send what is pending, within a second; a process that ends at once would otherwise never tell."""
        await asyncio.gather(*(teller.close() for teller in self._tellers.values()))
        self._tellers.clear()


class Teller:
    """One cell's notifications from this process."""

    def __init__(self, cell: "Cell") -> None:
        self._cell = cell
        self._pending: list[Wake] = []
        self._line = Line(cell.dsn, "wake", patience=PATIENCE)
        self._sending: asyncio.Task[None] | None = None
        self._rest = Waker()
        self._failing = False

    def tell(self, wake: Wake) -> None:
        """Soon, with all that is told meanwhile."""
        self._pending = [merged([*self._pending, wake])]
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        """Send what is pending and hang up."""
        if self._sending is not None:
            self._rest.wake()
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH):
                    await self._sending
        await self._line.close()

    async def _send(self) -> None:
        """The first at once, the rest 50 ms apart, until nothing is pending."""
        while self._pending:
            [wake], self._pending = self._pending, []
            await self._rest.wait(APART if await self._sent(wake) else AFTER_FAILURE)

    async def _sent(self, wake: Wake) -> bool:
        """Told, or dropped: it was a hint. Only the first of several failures is worth a line."""
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
    """Tell every listener of the cell, now."""
    await connection.execute(sql("wakes/notify"), encode(wake).decode())


async def ping(connection: "Connection") -> None:
    """Hear that the other end still listens."""
    await connection.execute(sql("wakes/ping"))
