"""Claims waiting instances that were admitted: tasks, retries, and fires that a gate had held back."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances import outcomes
from horae.domain.instances.instances import Instance
from horae.domain.schedules.timers import Timer
from horae.engine.admission.target import DueCall
from horae.engine.agenda import WRITE_AHEAD
from horae.engine.fire_parts import MAX_SEND_DELAY_S, Flight
from horae.runtime import randomness
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.instances import instances
from horae.store.instances.instances import Claim, EndRow
from horae.store.jobs import jobs
from horae.store.tx import Tx

MAX_PAUSED_JOBS: Final = 10_000
"""Paused jobs that a node remembers. Instances of further paused jobs are found by the next sweep."""
PAUSED_JOBS_PER_LOOK: Final = 500


class LeftRange(NamedTuple):
    """The range of due times of instances that claims left waiting because their job is paused."""

    tenant_id: UUID
    earliest: datetime
    latest: datetime


class Claimer:
    """Claims instances of one cell. Instances of paused jobs are left waiting.

    The claim statement itself checks the jobs of its batch, so a paused job without due instances costs nothing. The
    feeder does not always come back to rows that a claim has left waiting. Therefore:

    1. A claim that gets fewer instances than asked reads which of the jobs are paused, and remembers the range of times
       at which their instances were due.
    2. `look_at_paused` checks the remembered jobs. When some are resumed, `resumed` is called with the range of times
       at which their instances are due.
    """

    def __init__(self, cell: Cell, owner: UUID, resumed: Callable[[datetime, datetime], None]) -> None:
        self.cell = cell
        self.owner = owner
        self.resumed = resumed
        self._paused: dict[UUID, LeftRange] = {}

    async def claim(self, readies: Sequence[DueCall]) -> list[Flight]:
        """Make the instances of a batch RUNNING that are still waiting and due; returns their flights.

        Fewer than asked is normal. An error after the claim is logged and loses no claimed instance: otherwise it would
        stay unsent until its deadline.
        """
        removed: set[UUID] = set()
        of = {ready.timer.id: ready for ready in readies}
        async with self.cell.statement() as tx:
            now = tx.now
            held_ms = [ready.held_ms for ready in readies]
            tx.now += WRITE_AHEAD  # the claim is early by a moment; the call waits for its due time
            taken = await instances.claim(
                tx, [ready.timer for ready in readies], Claim(randomness.new_token(), self.owner), held_ms
            )
            try:
                removed = await jobs.removed(tx, {ran.job_id for ran in taken}) if taken else set()
                if len(taken) < len(of):
                    left = of.keys() - {ran.id for ran in taken}
                    await self._remember_paused(tx, [of[id_].timer for id_ in left])
            except Exception:
                log.exception("claim.check_failed", count=len(taken))
        try:
            await self._drop([ran for ran in taken if ran.job_id in removed])
        except Exception:
            log.exception("claim.drop_failed")
        return [
            Flight(of[ran.id], ran, now.timestamp() + MAX_SEND_DELAY_S) for ran in taken if ran.job_id not in removed
        ]

    async def look_at_paused(self) -> None:
        """Check which of the remembered paused jobs were resumed. Without remembered jobs no statement is sent."""
        if not self._paused:
            return
        asked = dict(islice(self._paused.items(), PAUSED_JOBS_PER_LOOK))
        async with self.cell.statement() as tx:
            paused = await jobs.paused(tx, [(left.tenant_id, job_id) for job_id, left in asked.items()])
        gone_on: list[LeftRange] = []
        for job_id in asked:
            left = self._paused.pop(job_id)
            if job_id in paused:
                self._paused[job_id] = left  # moves to the end: the others are checked next
            else:
                gone_on.append(left)
        if gone_on:
            self.resumed(min(left.earliest for left in gone_on), max(left.latest for left in gone_on))

    async def _remember_paused(self, tx: Tx, timers: Iterable[Timer]) -> None:
        """Remember the timers whose job is paused. The others have moved, or another node has claimed them."""
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
        """End instances of removed jobs as SKIPPED with the reason REMOVED."""
        if removed:
            async with self.cell.tx() as tx:
                await instances.end(tx, [EndRow(ran, outcomes.end_of_removed_job(ran)) for ran in removed])
