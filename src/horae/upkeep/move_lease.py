"""Keeps the lease of a move while a step of it runs, however long the step is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final, TypeVar
from uuid import UUID

from horae.domain.moves.moves import Move
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.clock import boottime
from horae.store.connections.each_cell import UNSERVED
from horae.store.moves import moves
from horae.store.protocol import CellProtocol
from horae.upkeep.move_rows import TargetLostError

RENEWALS_PER_TTL: Final = 3
"""So often is a lease renewed before it would end: two renewals may fail."""
Result = TypeVar("Result")


class MoveLease:
    """The lease of one coordinator of one move.

    1. A step runs as a task. Beside it another task renews the lease, and ends when the step has ended.
    2. Where another coordinator has the move, the step is cancelled, and `TargetLostError` is raised.
    3. A step that may not last any longer keeps no lease. So another coordinator can take the move from one that hangs.
    4. A renewal that the source does not answer is tried again: the step itself finds out that the source is down.
    5. Safety does not rest on the lease. The epochs of `horae.store.moves.shard_states` refuse a late coordinator.
    """

    def __init__(self, source: CellProtocol, coordinator: UUID) -> None:
        self._source = source
        self._me = coordinator
        self._ttl = timedelta()
        self._renewed_at = 0.0

    def note(self, ttl: timedelta) -> None:
        """Remember that the lease lasts one TTL from now on: a step or `take` has written it."""
        self._ttl, self._renewed_at = ttl, boottime()

    async def hold(
        self, move: Move, ttl: timedelta, do: Callable[[], Awaitable[Result]], may_last: Callable[[], bool]
    ) -> Result:
        """Run a step, and renew the lease until it has ended, as long as `may_last` says so."""
        ended = asyncio.Event()
        step = asyncio.create_task(_run(do, ended))
        renewing = asyncio.create_task(self._renew_until(ended, move, ttl, may_last))
        try:
            await asyncio.wait((step, renewing), return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                await renewing  # it raises: it ends before the step only where the move is lost
            await asyncio.wait((step, renewing))
            return step.result()
        finally:
            await cancel_and_wait(step, renewing)

    async def _renew_until(
        self, ended: asyncio.Event, move: Move, ttl: timedelta, may_last: Callable[[], bool]
    ) -> None:
        while not await _ends_within(ended, self._wait_s(ttl)):
            with suppress(*UNSERVED):
                if not await self._renew(move, ttl, may_last()):
                    raise TargetLostError(f"shard {move.shard} has another coordinator")
            self.note(ttl)

    async def _renew(self, move: Move, ttl: timedelta, may_last: bool) -> bool:
        """Renew the lease, or only look whether this coordinator still has it."""
        if may_last:
            return await self._source.run(lambda tx: moves.renew_lease(tx, move, self._me, ttl))
        async with self._source.statement() as tx:
            found = await moves.find(tx, move.shard, move.id)
        return found is not None and found.coordinator == self._me

    def _wait_s(self, ttl: timedelta) -> float:
        """Seconds until the next renewal. A lease of another TTL, which a former step has left, is renewed at once."""
        if ttl != self._ttl:
            return 0.0
        return max(0.0, self._renewed_at + ttl.total_seconds() / RENEWALS_PER_TTL - boottime())


async def _run(do: Callable[[], Awaitable[Result]], ended: asyncio.Event) -> Result:
    try:
        return await do()
    finally:
        ended.set()


async def _ends_within(ended: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ended.wait()
    return ended.is_set()
