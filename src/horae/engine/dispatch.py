"""Claim what is due, class by class, send it, settle it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Final
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.instances import Instance, Lane, Priority
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.outcomes import Ended, Lost, SkipReason
from horae.engine.definitions import Definitions
from horae.engine.front import Front
from horae.engine.settle import Result, Settler
from horae.engine.territory import Territory
from horae.runtime import chance
from horae.store import instances, jobs
from horae.store.cells import Cell
from horae.store.instances import Attempt, Claim, Ending

BATCH: Final = 200
MILLISECOND: Final = timedelta(milliseconds=1)


class Dispatcher:
    """Delivers due instances of some shards in one cell."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        owner: UUID,
        definitions: Definitions,
        settler: Settler,
        sender: Sender,
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.owner = owner
        self.definitions = definitions
        self.settler = settler
        self.sender = sender
        self.fronts = {pair: Front() for pair in product(Priority, Lane)}
        self._held: set[UUID] = set()

    def expect(self, priority: Priority, due_at: datetime) -> None:
        """A fire was born that may be due before what was looked at already."""
        self.fronts[priority, Lane.FIRST].name(due_at)

    async def once(self) -> int:
        """One claim per class; returns how many attempts were made."""
        await self._learn_held()
        return sum([await self._serve(*pair, front) for pair, front in self.fronts.items()])

    async def _learn_held(self) -> None:
        """Which jobs are paused. What one of them left behind lies below the fronts when it goes on."""
        async with self.cell.statement() as tx:
            held = set(await jobs.paused(tx))
        if self._held - held:
            for front in self.fronts.values():
                front.reset()
        self._held = held

    async def _serve(self, priority: Priority, lane: Lane, front: Front) -> int:
        async with self.cell.statement() as tx:
            ask = Claim(priority, lane, front.low(tx.now), BATCH, chance.token(), self.owner, list(self._held))
            claimed, drained = await self.territory.claim(tx, ask)
            if drained:
                front.drained(tx.now)
            if not claimed:
                return 0
            known = await self.definitions.load(tx, {(ran.shard, ran.job_id, ran.job_version) for ran in claimed})
            removed = await jobs.removed(tx, list({ran.job_id for ran in claimed if ran.business_key}))
        wanted = [(ran, known.get((ran.job_id, ran.job_version))) for ran in claimed if ran.job_id not in removed]
        results = await asyncio.gather(*(self._deliver(ran, job) for ran, job in wanted))
        await self.settler.settle(results)
        await self._drop([ran for ran in claimed if ran.job_id in removed])
        return len(claimed)

    async def _deliver(self, ran: Instance, job: Job | None) -> Result:
        if job is None:  # the type's copy has not arrived in this cell yet: due again, nothing counted
            return Result(ran, None, Lost())
        delay_ms = _delay(ran, self.cell.clock.now())
        done = await self.sender.deliver(ran, job)
        code = getattr(done.outcome, "code", None)
        kept = Attempt(ran.attempt, done.status, code, done.duration_ms, done.answer)
        return Result(ran, job, done.outcome, kept, delay_ms)

    async def _drop(self, removed: Sequence[Instance]) -> None:
        """Tasks of a type that was removed: they leave a row that says so."""
        if removed:
            ended = [Ending(ran, Ended(State.SKIPPED, ran.retry_count, SkipReason.REMOVED)) for ran in removed]
            async with self.cell.tx() as tx:
                await instances.end(tx, ended)


def _delay(ran: Instance, now: datetime) -> int | None:
    """The trigger delay counts for the first attempt only."""
    return max(0, (now - ran.due_at) // MILLISECOND) if ran.attempt == 1 else None
