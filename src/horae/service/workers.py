"""Workers: they claim, are heard from, and finish. Targets that answered 202 speak with the same two last verbs.

The rules for what a report means are the engine's own (`horae.domain.outcomes`), and so is the writing. Nothing is
written for an attempt that is no longer theirs.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from horae.domain.ids import Prefix, public
from horae.domain.outcomes import Outcome
from horae.domain.workers import (
    Finish,
    FinishAnswer,
    HeartbeatAnswer,
    Held,
    Verdict,
    check_many,
    outcome_of,
)
from horae.runtime.telemetry import log
from horae.service.claims import claim
from horae.service.compensations import sealed
from horae.service.context import Context
from horae.service.proofs import by_cell, count_refused, prove
from horae.store import workers
from horae.store.cells import Cell
from horae.store.instances import Attempt
from horae.store.settle import Result, Settler
from horae.store.tx import GONE, Tx
from horae.store.workers import Beat, Running

__all__ = ["claim", "finish", "heartbeat"]
NONE: Final = timedelta()
MILLISECOND: Final = timedelta(milliseconds=1)
LONGEST: Final = 2**31 - 1  # milliseconds that a column can hold


async def heartbeat(ctx: Context, held: Sequence[Held]) -> list[HeartbeatAnswer]:
    """Move deadlines away, by the seconds given or by the queue's own; says of each whether it is still theirs.

    False: it was cancelled, replaced or rescued, and the worker should stop.
    """
    check_many(len(held))
    answers: dict[Held, HeartbeatAnswer] = {}
    for cell, here in by_cell(ctx, held).items():
        try:
            answers |= await _hear(ctx, cell, here)
        except GONE:
            log.warning("heartbeat.cell_down", cell=cell.name)
    unheard = (HeartbeatAnswer(one.instance_id, one.attempt, yours=True) for one in held)
    return [answers.get(one, unknown) for one, unknown in zip(held, unheard, strict=True)]


async def finish(ctx: Context, results: Sequence[Finish]) -> list[FinishAnswer]:
    """Settle what workers report, item by item: done, late, or not now. The first report of an attempt counts."""
    check_many(len(results))
    verdicts: dict[Finish, Verdict] = {}
    for cell, here in by_cell(ctx, results).items():
        try:
            verdicts |= await _settle(ctx, cell, here)
        except GONE:
            log.warning("finish.cell_down", cell=cell.name)
    return [FinishAnswer(one.instance_id, one.attempt, verdicts.get(one, Verdict.NOT_NOW)) for one in results]


async def _hear(ctx: Context, cell: Cell, held: Sequence[Held]) -> dict[Held, HeartbeatAnswer]:
    async def work(tx: Tx) -> dict[Held, HeartbeatAnswer]:
        proof = await prove(ctx, tx, held)
        beats = {running.ran.id: _beat(one, running, tx) for one, running in proof.proven.items()}
        deadlines = await workers.heartbeat(tx, list(beats.values())) if beats else {}
        heard = {one: _answer(one, deadlines.get(one.instance_id)) for one in proof.proven}
        return heard | {one: _answer(one, None) for one in proof.refused}

    return await cell.run_after_read(work)


def _beat(one: Held, running: Running, tx: Tx) -> Beat:
    span = running.slot if one.seconds is None else timedelta(seconds=one.seconds)
    return Beat(running.ran, tx.now + span)


def _answer(one: Held, deadline: datetime | None) -> HeartbeatAnswer:
    return HeartbeatAnswer(one.instance_id, one.attempt, deadline is not None, deadline)


async def _settle(ctx: Context, cell: Cell, finishes: Sequence[Finish]) -> dict[Finish, Verdict]:
    """First what we handed out ourselves and remember; what was not written so is read, and proven, by its row."""
    known = _recalled(ctx, finishes)
    done = await _write(ctx, cell, known) if known else set()
    rest = [one for one in finishes if one not in done]
    verdicts = dict.fromkeys(done, Verdict.DONE)
    if not rest:
        return verdicts
    async with cell.statement() as tx:
        proof = await prove(ctx, tx, rest)
    written = await _write(ctx, cell, proof.proven) if proof.proven else set()
    count_refused(ctx, len(proof.proven) - len(written))
    judged = {one: Verdict.DONE if one in written else Verdict.LATE for one in (*proof.proven, *proof.refused)}
    return verdicts | judged


def _recalled(ctx: Context, finishes: Sequence[Finish]) -> dict[Finish, Running]:
    found = {}
    for one in finishes:
        kept = ctx.handed.recall(ctx.tenant.id, public(Prefix.INSTANCE, one.instance_id), one.attempt, one.token)
        if kept is not None:
            found[one] = Running(kept.ran, kept.since, NONE)
    return found


async def _write(ctx: Context, cell: Cell, proven: dict[Finish, Running]) -> set[Finish]:
    """Settle attempts by what was said of them; returns the reports that were written. Of two the first counts."""
    wanted = {(ran.shard, ran.job_id, ran.job_version) for ran, _, _ in proven.values()}
    known, now = await ctx.definitions.load_from(cell, wanted), cell.clock.now()
    first = {running.ran.id: one for one, running in reversed(proven.items())}
    results = []
    for one in first.values():
        ran, since, _ = proven[one]
        outcome, attempt = _said(one, now - since)
        job = known.get((ran.job_id, ran.job_version))
        asked = await sealed(ctx, ran.id, one.compensations) if one.compensations else ()
        results.append(Result(ran, job, outcome, attempt, compensations=asked))
    written = await Settler(cell, lambda timer: ctx.wakes.wake(timer.shard, timer.at)).write(results)
    return {one for id_, one in first.items() if id_ in written}


def _said(one: Finish, took: timedelta) -> tuple[Outcome, Attempt]:
    duration_ms = min(took // MILLISECOND, LONGEST)
    outcome = outcome_of(one.said)
    code, message = getattr(outcome, "code", None), getattr(outcome, "message", None)
    return outcome, Attempt(one.attempt, code=code, duration_ms=duration_ms, answer=message or None)
