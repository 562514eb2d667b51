"""The leases of a node in all its cells, kept in a separate OS thread.

The thread has its own event loop and its own connections, so neither a blocked engine loop nor an exhausted pool stops
the renewals. The other threads read one attribute per cell, without a lock.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from horae.engine.leases.keeper import Keeper, NodeIdentity
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell

Changed = Callable[[Cell, list[int], list[int]], None]
RELEASE_TIMEOUT_S: Final = 0.9
"""Seconds that releasing the shards may take, and also the end of the thread."""
LOSS_CONFIRMED_TIMEOUT_S: Final = 0.2
"""Seconds to wait until the engine has confirmed that it lost shards."""
NONE: Final[frozenset[int]] = frozenset()


class Leases:
    """The shards that this node holds in each cell. `changed(cell, gained, lost)` runs in the loop of `start()`.

    With `enforced=False` every node believes that it owns every shard: a proof that the rows do not need leases.
    """

    def __init__(
        self, cells: Sequence[Cell], identity: NodeIdentity, changed: Changed, *, enforced: bool = True
    ) -> None:
        self.identity = identity
        self._changed = changed
        self._keepers = {cell.name: Keeper(cell, identity, self._report_change, enforced=enforced) for cell in cells}
        self._thread = threading.Thread(target=self._live, name="leases", daemon=True)
        self._tasks: list[asyncio.Task[None]] = []
        self._began = threading.Event()
        self._main: asyncio.AbstractEventLoop
        self._loop: asyncio.AbstractEventLoop
        self._ended: asyncio.Event

    def alive(self, cell: Cell) -> bool:
        """Whether this node may act in a cell now. Every thread may ask: it costs one attribute and one clock read."""
        return boottime() < self._keepers[cell.name].holding.hold.valid_until

    def held_shards(self, cell: Cell) -> frozenset[int]:
        """The shards that this node may work on; none once the lease has run out."""
        hold = self._keepers[cell.name].holding.hold
        return hold.shards if boottime() < hold.valid_until else NONE

    def open_shards(self, cell: Cell) -> frozenset[int] | None:
        """The shards that the cell held when the lease was last renewed; None before the first round."""
        return self._keepers[cell.name].open_shards

    def prompt(self, cell: Cell) -> None:
        """Renew the lease of a cell now: a shard may have moved there."""
        with suppress(RuntimeError):  # the lease thread has ended
            self._loop.call_soon_threadsafe(self._keepers[cell.name].prompt)

    def valid_until(self, cell: Cell) -> float:
        """The tick of CLOCK_BOOTTIME at which the lease runs out unless it is renewed."""
        return self._keepers[cell.name].holding.hold.valid_until

    def living_nodes(self, cell: Cell) -> int:
        """How many nodes the last round has seen alive in a cell, this one included; 0 once the lease has run out."""
        return self._keepers[cell.name].living if self.alive(cell) else 0

    def taken_over(self, cell: Cell) -> int:
        """How many shards of dead nodes this node has taken in a cell since it began."""
        return self._keepers[cell.name].taken_over

    async def start(self) -> None:
        """Start the thread; returns when every cell has had its first round, at the latest after one TTL."""
        self._main = asyncio.get_running_loop()
        self._thread.start()
        await asyncio.to_thread(self._began.wait)
        await self._run_in_thread(self._wait_for_first_rounds(), self.identity.ttl.total_seconds())

    async def leave(self) -> None:
        """Release every shard within a second. The node stays alive as draining, for its calls in flight."""
        await self._run_in_thread(self._drain(), RELEASE_TIMEOUT_S)

    async def stop(self) -> None:
        """Delete the node's rows and end the thread. A connection that does not answer is dropped."""
        if not self._thread.is_alive():
            return
        await self._run_in_thread(self._end_keepers(), RELEASE_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._ended.set)
        await asyncio.to_thread(self._thread.join, RELEASE_TIMEOUT_S)

    def _live(self) -> None:
        asyncio.run(self._keep())

    async def _keep(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._begin()
        self._began.set()
        await self._ended.wait()
        await self._cancel_rounds()
        for keeper in self._keepers.values():
            keeper.drop_connection()
        await asyncio.sleep(0)  # the event loop closes the sockets in its next iteration

    def _begin(self) -> None:
        self._tasks = [asyncio.create_task(keeper.keep()) for keeper in self._keepers.values()]

    async def _wait_for_first_rounds(self) -> None:
        await asyncio.gather(*(keeper.looked.wait() for keeper in self._keepers.values()))

    async def _drain(self) -> None:
        await self._cancel_rounds()
        await self._each(Keeper.drain)
        self._begin()

    async def _end_keepers(self) -> None:
        await self._cancel_rounds()
        await self._each(Keeper.leave)

    async def _cancel_rounds(self) -> None:
        """Cancel the running rounds. A round that waits for an answer drops its connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _each(self, verb: Callable[[Keeper], Coroutine[Any, Any, None]]) -> None:
        """Call a method of every keeper at the same time. A cell that does not answer in time is left out."""
        going = {asyncio.create_task(verb(keeper)): keeper for keeper in self._keepers.values()}
        done, late = await asyncio.wait(going, timeout=RELEASE_TIMEOUT_S * 2 / 3)
        for task in late:
            going[task].drop_connection()
            task.cancel()
        for task in done:
            if (error := task.exception()) is not None:
                log.warning("lease.not_released", cell=going[task].cell.name, error=repr(error))

    async def _run_in_thread(self, work: Coroutine[Any, Any, None], seconds: float) -> None:
        """Run a coroutine in the lease thread and wait for it here, at most this many seconds."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.wrap_future(future)

    async def _report_change(self, cell: Cell, gained: list[int], lost: list[int]) -> None:
        """Report a change of shards to the engine, in its loop. Lost shards: wait a moment until it has stopped."""
        heard, loop = asyncio.Event(), asyncio.get_running_loop()

        def hear() -> None:
            self._changed(cell, gained, lost)
            with suppress(RuntimeError):  # the lease thread has ended
                loop.call_soon_threadsafe(heard.set)

        with suppress(RuntimeError, TimeoutError):  # the engine's loop is closed, or blocked
            self._main.call_soon_threadsafe(hear)
            if lost:
                async with asyncio.timeout(LOSS_CONFIRMED_TIMEOUT_S):
                    await heard.wait()
