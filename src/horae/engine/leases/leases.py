"""A node's leases over all its cells, kept in an OS thread of their own.

With its own event loop and its own connections nothing the engine does can stop it: neither a blocked loop nor an
exhausted pool. The other threads read one attribute per cell, without a lock.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from horae.engine.leases.keeper import Keeper, Who
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell

Changed = Callable[[Cell, list[int], list[int]], None]
LEAVE: Final = 0.9
HEARD: Final = 0.2
NONE: Final[frozenset[int]] = frozenset()


class Leases:
    """What this node holds where. `changed(cell, gained, lost)` is called in the loop that called `start()`.

    With `enforced=False` every node believes that it owns every shard, for proving that the rows need no leases.
    """

    def __init__(self, cells: Sequence[Cell], who: Who, changed: Changed, *, enforced: bool = True) -> None:
        self.who = who
        self._changed = changed
        self._keepers = {cell.name: Keeper(cell, who, self._tell, enforced=enforced) for cell in cells}
        self._thread = threading.Thread(target=self._live, name="leases", daemon=True)
        self._tasks: list[asyncio.Task[None]] = []
        self._began = threading.Event()
        self._main: asyncio.AbstractEventLoop
        self._loop: asyncio.AbstractEventLoop
        self._ended: asyncio.Event

    def alive(self, cell: Cell) -> bool:
        """Whether this node may act in a cell now. One attribute read and one clock, for every thread."""
        return boottime() < self._keepers[cell.name].holding.hold.valid_until

    def held(self, cell: Cell) -> frozenset[int]:
        """The shards it may act on; none once the lease has run out."""
        hold = self._keepers[cell.name].holding.hold
        return hold.shards if boottime() < hold.valid_until else NONE

    def valid_until(self, cell: Cell) -> float:
        """The tick of CLOCK_BOOTTIME at which the lease runs out unless it is renewed."""
        return self._keepers[cell.name].holding.hold.valid_until

    async def start(self) -> None:
        """Begin; returns when every cell has been looked at once, or was given a TTL for it."""
        self._main = asyncio.get_running_loop()
        self._thread.start()
        await asyncio.to_thread(self._began.wait)
        await self._there(self._looked(), self.who.ttl.total_seconds())

    async def leave(self) -> None:
        """Hand every shard back within a second; the incarnation lives on, draining, for what is in flight."""
        await self._there(self._drain(), LEAVE)

    async def stop(self) -> None:
        """Say goodbye and end the thread. A connection that hangs is left behind."""
        if not self._thread.is_alive():
            return
        await self._there(self._part(), LEAVE)
        self._loop.call_soon_threadsafe(self._ended.set)
        await asyncio.to_thread(self._thread.join, LEAVE)

    def _live(self) -> None:
        asyncio.run(self._keep())

    async def _keep(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._begin()
        self._began.set()
        await self._ended.wait()
        await self._cut()
        for keeper in self._keepers.values():
            keeper.hang_up()
        await asyncio.sleep(0)  # the sockets are closed in the loop's next round

    def _begin(self) -> None:
        self._tasks = [asyncio.create_task(keeper.keep()) for keeper in self._keepers.values()]

    async def _looked(self) -> None:
        await asyncio.gather(*(keeper.looked.wait() for keeper in self._keepers.values()))

    async def _drain(self) -> None:
        await self._cut()
        await self._each(Keeper.drain)
        self._begin()

    async def _part(self) -> None:
        await self._cut()
        await self._each(Keeper.leave)

    async def _cut(self) -> None:
        """End the rounds where they are; one that hangs gives up its connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _each(self, verb: Callable[[Keeper], Coroutine[Any, Any, None]]) -> None:
        """In all cells at once; one that does not answer in time keeps nobody waiting."""
        going = {asyncio.create_task(verb(keeper)): keeper for keeper in self._keepers.values()}
        done, late = await asyncio.wait(going, timeout=LEAVE * 2 / 3)
        for task in late:
            going[task].hang_up()
            task.cancel()
        for task in done:
            if (error := task.exception()) is not None:
                log.warning("lease.not_handed_back", cell=going[task].cell.name, error=repr(error))

    async def _there(self, work: Coroutine[Any, Any, None], seconds: float) -> None:
        """Run in the leases' own thread, and wait here for it, but not for ever."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.wrap_future(future)

    async def _tell(self, cell: Cell, gained: list[int], lost: list[int]) -> None:
        """Let the engine know, in its own loop. What it loses it may stop using first, if it listens at once."""
        heard, loop = asyncio.Event(), asyncio.get_running_loop()

        def hear() -> None:
            self._changed(cell, gained, lost)
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(heard.set)

        with suppress(RuntimeError, TimeoutError):  # the engine's loop is closed, or blocked
            self._main.call_soon_threadsafe(hear)
            if lost:
                async with asyncio.timeout(HEARD):
                    await heard.wait()
