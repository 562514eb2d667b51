"""Claim waiting instances that were admitted: tasks, retries, and fires that had been held back."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain import outcomes
from horae.domain.instances import Instance
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.agenda import AHEAD
from horae.engine.births import PROMPT, Flight
from horae.runtime import chance
from horae.runtime.telemetry import log
from horae.store import instances, jobs
from horae.store.cells import Cell
from horae.store.instances import Claim, Ending
from horae.store.tx import Tx

MAX_PAUSED_JOBS: Final = 10_000
"""Paused jobs that a node remembers to have met. The tasks of those beyond it are found by the next sweep."""
PAUSED_JOBS_PER_LOOK: Final = 500


class LeftRange(NamedTuple):
    """When the instances of a paused job were due that a claim left where they are."""

    tenant_id: UUID
    earliest: datetime
    latest: datetime


class Claimer:
    """Takes instances of one cell. Instances of paused jobs stay where they are.

    The claim itself asks about the jobs of its batch, so jobs that are paused and have nothing due cost nothing. A look
    does not come by again where instances were left. Therefore:

    1. A claim that gets fewer than it asked for asks which of the jobs are paused, and remembers from when to when
       their instances were due.
    2. `look_at_paused` asks about the remembered jobs again. When some of them go on, `resumed` is called with the
       times between which something of them is due.
    """

    def __init__(self, cell: Cell, owner: UUID, resumed: Callable[[datetime, datetime], None]) -> None:
        self.cell = cell
        self.owner = owner
        self.resumed = resumed
        self._paused: dict[UUID, LeftRange] = {}

    async def claim(self, readies: Sequence[Ready]) -> list[Flight]:
        """Those of a batch that are still waiting and due are RUNNING now. Fewer is normal.

        They are returned whatever fails once they are claimed: nobody else would call them before their deadline.
        """
        removed: set[UUID] = set()
        of = {ready.timer.id: ready for ready in readies}
        async with self.cell.statement() as tx:
            now = tx.now
            held_ms = [ready.held_ms for ready in readies]
            tx.now += AHEAD  # the call waits for its time, not the claim
            taken = await instances.claim(
                tx, [ready.timer for ready in readies], Claim(chance.token(), self.owner), held_ms
            )
            try:
                removed = await jobs.removed(tx, {ran.job_id for ran in taken}) if taken else set()
                if len(taken) < len(of):
                    left = of.keys() - {ran.id for ran in taken}
                    await self._remember_paused(tx, [of[id_].timer for id_ in left])
            except Exception:
                log.exception("claim.not_followed_up", count=len(taken))
        try:
            await self._drop([ran for ran in taken if ran.job_id in removed])
        except Exception:
            log.exception("removed.not_dropped")
        return [Flight(of[ran.id], ran, now.timestamp() + PROMPT) for ran in taken if ran.job_id not in removed]

    async def look_at_paused(self) -> None:
        """See which of the paused jobs that were met go on again; nothing is asked where none was met."""
        if not self._paused:
            return
        asked = dict(islice(self._paused.items(), PAUSED_JOBS_PER_LOOK))
        async with self.cell.statement() as tx:
            paused = await jobs.paused(tx, [(left.tenant_id, job_id) for job_id, left in asked.items()])
        gone_on: list[LeftRange] = []
        for job_id in asked:
            left = self._paused.pop(job_id)
            if job_id in paused:
                self._paused[job_id] = left  # behind the others, which are asked about next
            else:
                gone_on.append(left)
        if gone_on:
            self.resumed(min(left.earliest for left in gone_on), max(left.latest for left in gone_on))

    async def _remember_paused(self, tx: Tx, timers: Iterable[Timer]) -> None:
        """Remember those of the timers whose job is paused; the others moved, or someone else has them."""
        met: dict[UUID, LeftRange] = {}
        for timer in timers:
            before = met.get(timer.job_id) or self._paused.get(timer.job_id)
            earliest, latest = (timer.at, timer.at) if before is None else (before.earliest, before.latest)
            met[timer.job_id] = LeftRange(timer.tenant_id, min(earliest, timer.at), max(latest, timer.at))
        paused = await jobs.paused(tx, [(left.tenant_id, job_id) for job_id, left in met.items()])
        for job_id in paused:
            if job_id in self._paused or len(self._paused) < MAX_PAUSED_JOBS:
                self._paused[job_id] = met[job_id]

    async def _drop(self, removed: Sequence[Instance]) -> None:
        """Instances of jobs that were removed: they leave a row that says so."""
        if removed:
            async with self.cell.tx() as tx:
                await instances.end(tx, [Ending(ran, outcomes.removed(ran)) for ran in removed])
