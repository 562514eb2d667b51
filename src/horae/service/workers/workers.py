"""Heartbeats and results of workers. Targets that answered 202 use the same two operations.

The rules for a result (`horae.domain.instances.outcomes`) and the writes (`horae.repositories.settle`) are the same as
in the engine. Nothing is written for an attempt that no longer belongs to the worker.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from horae.domain.encryption.encrypted_values import progress_of, result_of
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import Outcome
from horae.domain.instances.results import StoredProgress
from horae.domain.jobs.jobs import Job
from horae.domain.targets.targets import request_line
from horae.domain.times import column_ms
from horae.domain.workers.workers import (
    Finish,
    FinishAnswer,
    Heartbeat,
    HeartbeatAnswer,
    ReportVerdict,
    check_many,
    outcome_of,
)
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.telemetry import log
from horae.security.envelopes import DataKey
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.tasks.compensations import encrypt_payloads
from horae.service.workers.claims import claim
from horae.service.workers.ownership import NOT_NOW, by_cell, count_refused, prove
from horae.service.workers.traces import trace_finish
from horae.store.instances.instances import Attempt
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx
from horae.store.workers import progress, workers
from horae.store.workers.workers import Beat, RunningAttempt

__all__ = ["claim", "finish", "heartbeat"]
NO_TIME_PASSED: Final = timedelta()


async def heartbeat(ctx: Context, held: Sequence[Heartbeat]) -> list[HeartbeatAnswer]:
    """Extend the deadlines of attempts, by the given seconds or by the default of the queue.

    `yours` in an answer is False where the attempt was cancelled, replaced or rescued: the worker should stop. It is
    True where the row cannot be read now.
    """
    check_many(len(held))
    answers: dict[Heartbeat, HeartbeatAnswer] = {}
    for cell, here in by_cell(ctx, held).items():
        try:
            answers |= await _extend(ctx, cell, here)
        except NOT_NOW as error:
            log.warning("heartbeat.cell_down", cell=cell.name, reason=type(error).__name__)
    unheard = (HeartbeatAnswer(one.instance_id, one.attempt, yours=True) for one in held)
    return [answers.get(one, unknown) for one, unknown in zip(held, unheard, strict=True)]


async def finish(ctx: Context, results: Sequence[Finish]) -> list[FinishAnswer]:
    """Settle the reported results, item by item: done, late or not now. The first report of an attempt counts."""
    check_many(len(results))
    verdicts: dict[Finish, ReportVerdict] = {}
    for cell, here in by_cell(ctx, results).items():
        try:
            verdicts |= await _settle(ctx, cell, here)
        except NOT_NOW as error:
            log.warning("finish.cell_down", cell=cell.name, reason=type(error).__name__)
    return [FinishAnswer(one.instance_id, one.attempt, verdicts.get(one, ReportVerdict.NOT_NOW)) for one in results]


async def _extend(ctx: Context, cell: CellProtocol, held: Sequence[Heartbeat]) -> dict[Heartbeat, HeartbeatAnswer]:
    key = await ctx.store.cipher.key(ctx.tenant.id) if any(one.progress for one in held) else None

    async def work(tx: Tx) -> dict[Heartbeat, HeartbeatAnswer]:
        proof = await prove(ctx, tx, held)
        beats = {running.ran.id: _beat_of(one, running, tx) for one, running in proof.proven.items()}
        deadlines = await workers.heartbeat(tx, list(beats.values())) if beats else {}
        if reports := [_progress_of(key, one, run, tx) for one, run in proof.proven.items() if one.progress]:
            await progress.write(tx, reports)
        heard = {one: _answer(one, deadlines.get(one.instance_id)) for one in proof.proven}
        return heard | {one: _answer(one, None) for one in proof.refused}

    return await cell.run_after_read(work)


def _beat_of(one: Heartbeat, running: RunningAttempt, tx: Tx) -> Beat:
    span = running.slot if one.seconds is None else timedelta(seconds=one.seconds)
    return Beat(running.ran, tx.now + span)


def _progress_of(
    key: DataKey | None, one: Heartbeat, running: RunningAttempt, tx: Tx
) -> tuple[Instance, StoredProgress]:
    """Returns an attempt and how far it is, as its row holds it."""
    assert one.progress is not None
    text = encrypt_value(key, progress_of(running.ran.id), one.progress.text)
    return running.ran, StoredProgress(one.attempt, one.progress.percent, text, tx.now)


def _answer(one: Heartbeat, deadline: datetime | None) -> HeartbeatAnswer:
    return HeartbeatAnswer(one.instance_id, one.attempt, deadline is not None, deadline)


async def _settle(ctx: Context, cell: CellProtocol, finishes: Sequence[Finish]) -> dict[Finish, ReportVerdict]:
    """Settle the results of one cell.

    1. Attempts that this process handed out and remembers are written at once.
    2. The rows of all other attempts are read, their tokens are checked, and they are written.
    3. A result that was not written is late. One in a moving shard has no verdict, which means "not now".
    """
    known = _recall(ctx, finishes)
    done = await _write(ctx, cell, known) if known else set()
    rest = [one for one in finishes if one not in done]
    verdicts = dict.fromkeys(done, ReportVerdict.DONE)
    if not rest:
        return verdicts
    async with cell.statement() as tx:
        proof = await prove(ctx, tx, rest)
    written = await _write(ctx, cell, proof.proven) if proof.proven else set()
    count_refused(ctx, len(proof.proven) - len(written))
    judged = {
        one: ReportVerdict.DONE if one in written else ReportVerdict.LATE for one in (*proof.proven, *proof.refused)
    }
    return verdicts | judged


def _recall(ctx: Context, finishes: Sequence[Finish]) -> dict[Finish, RunningAttempt]:
    found = {}
    for one in finishes:
        kept = ctx.handed.recall(ctx.tenant.id, public(Prefix.INSTANCE, one.instance_id), one.attempt, one.token)
        if kept is not None:
            found[one] = RunningAttempt(kept.ran, kept.since, NO_TIME_PASSED)
    return found


async def _write(ctx: Context, cell: CellProtocol, proven: dict[Finish, RunningAttempt]) -> set[Finish]:
    """Settle attempts by their reports. Returns the written ones; of two for one attempt the first counts."""
    wanted = {(ran.shard, ran.job_id, ran.job_version) for ran, _, _ in proven.values()}
    known, now = await ctx.definitions.load_from(cell, wanted), cell.clock.now()
    first = {running.ran.id: one for one, running in reversed(proven.items())}
    results = []
    key = await ctx.store.cipher.key(ctx.tenant.id) if any(one.result is not None for one in first.values()) else None
    for one in first.values():
        ran, since, _ = proven[one]
        job = known.get((ran.job_id, ran.job_version))
        outcome, attempt = _outcome_of(one, ran, job, since, now)
        asked = await encrypt_payloads(ctx, ran.id, one.compensations) if one.compensations else ()
        returned: Any = encrypt_value(key, result_of(ran.id), one.result)
        results.append(AttemptOutcome(ran, job, outcome, attempt, compensations=asked, result=returned))
    tracer = ctx.memory.tracer
    settler = Settler(
        cell,
        lambda timer: ctx.wakes.wake(timer.shard, timer.at),
        tracer,
        ctx.memory.durations,
        step_ended=lambda shard: ctx.wakes.wake(shard, ctx.now(shard)),
    )
    written = await settler.write(results)
    if tracer is not None:
        for result in results:
            name = "" if result.job is None else result.job.name
            trace_finish(tracer, result.ran, name, proven[first[result.ran.id]].since, now, result.outcome)
    return {one for id_, one in first.items() if id_ in written}


def _outcome_of(one: Finish, ran: Instance, job: Job | None, since: datetime, now: datetime) -> tuple[Outcome, Attempt]:
    """Returns the outcome that a worker or an accepting target reports, and the record of its attempt."""
    outcome = outcome_of(one.report)
    attempt = Attempt(
        one.attempt,
        code=getattr(outcome, "code", None),
        duration_ms=column_ms(now - since),
        answer=getattr(outcome, "message", None) or None,
        started_at=since,
        worker_id=ran.worker_id,
        request=None if job is None else request_line(job.definition.target),
    )
    return outcome, attempt
