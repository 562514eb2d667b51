"""Claim waiting instances that were admitted: tasks, retries, and fires that had been held back."""

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from horae.domain import outcomes
from horae.domain.instances import Instance
from horae.engine.admission.ready import Ready
from horae.engine.agenda import AHEAD
from horae.engine.births import PROMPT, Flight
from horae.runtime import chance
from horae.runtime.clock import boottime
from horae.store import instances, jobs
from horae.store.cells import Cell
from horae.store.instances import Claim, Ending

REMEMBERED: Final = 1.0


class Claimer:
    """Takes instances of one cell. Jobs that are paused are left alone; when one goes on, `resumed` is called."""

    def __init__(self, cell: Cell, owner: UUID, resumed: Callable[[], None]) -> None:
        self.cell = cell
        self.owner = owner
        self.resumed = resumed
        self._held: frozenset[UUID] = frozenset()
        self._learnt_at = -REMEMBERED

    async def claim(self, readies: Sequence[Ready]) -> list[Flight]:
        """Those of a batch that are still waiting and due are RUNNING now. Fewer is normal."""
        await self.learn_held()
        of = {ready.timer.id: ready for ready in readies}
        ask = Claim(chance.token(), self.owner, list(self._held))
        async with self.cell.statement() as tx:
            now = tx.now
            held_ms = [ready.held_ms for ready in readies]
            tx.now += AHEAD  # the call waits for its time, not the claim
            taken = await instances.claim(tx, [ready.timer for ready in readies], ask, held_ms)
            keyed = {ran.job_id for ran in taken if ran.business_key}
            removed = await jobs.removed(tx, list(keyed)) if keyed else set()
        await self._drop([ran for ran in taken if ran.job_id in removed])
        return [Flight(of[ran.id], ran, now.timestamp() + PROMPT) for ran in taken if ran.job_id not in removed]

    async def learn_held(self, *, anew: bool = False) -> None:
        """Which jobs are paused, at most a second ago. What one of them left behind lies behind the marks."""
        now = boottime()
        if now - self._learnt_at < REMEMBERED and not anew:
            return
        async with self.cell.statement() as tx:
            held = frozenset(await jobs.paused(tx))
        self._learnt_at = now
        before, self._held = self._held, held
        if before - held:
            self.resumed()

    async def _drop(self, removed: Sequence[Instance]) -> None:
        """Tasks of a type that was removed: they leave a row that says so."""
        if removed:
            async with self.cell.tx() as tx:
                await instances.end(tx, [Ending(ran, outcomes.removed(ran)) for ran in removed])
