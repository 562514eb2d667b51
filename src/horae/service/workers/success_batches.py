"""Plain successes, many at a time: most reports of workers are of this kind.

An attempt that this process handed out and remembers ends by one statement, without a read of its row. All other
reports take the general path (`horae.service.workers.workers`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.health.signals import AttemptResult
from horae.domain.instances.outcomes import Success
from horae.domain.times import column_ms
from horae.domain.traces.spans import settle_span
from horae.domain.workers.workers import ReportVerdict
from horae.runtime.randomness import new_span_id
from horae.runtime.telemetry import log
from horae.runtime.tracing import Tracer
from horae.service.context import Context
from horae.service.workers.attempt_cache import HandedAttempt
from horae.service.workers.ownership import NOT_NOW
from horae.service.workers.traces import trace_finish
from horae.store.instances import instances
from horae.store.protocol import CellProtocol
from horae.store.tx import BAD_ROW, Tx


class SuccessReport(Protocol):
    """A worker's report about an attempt."""

    @property
    def instance_id(self) -> str:
        """The public id of the instance."""

    @property
    def attempt(self) -> int:
        """The number of the attempt."""

    @property
    def token(self) -> str:
        """The completion token."""


async def succeed(ctx: Context, done: Sequence[SuccessReport]) -> list[ReportVerdict | None]:
    """End the remembered attempts: done or not now. None means that the report needs the general path."""
    tenant_id, recall = ctx.tenant.id, ctx.handed.recall
    kept = [recall(tenant_id, one.instance_id, one.attempt, one.token) for one in done]
    verdicts: dict[UUID, ReportVerdict] = {}
    for cell, here in _by_cell(ctx, [one for one in kept if one is not None and one.alone]).items():
        try:
            verdicts |= dict.fromkeys(await _end(ctx, cell, here), ReportVerdict.DONE)
        except NOT_NOW as error:  # it may have been written: when the worker reports again, the row decides
            log.warning("finish.cell_down", cell=cell.name, reason=type(error).__name__)
            verdicts |= dict.fromkeys((one.ran.id for one in here), ReportVerdict.NOT_NOW)
        except BAD_ROW:
            log.warning("finish.row_refused", cell=cell.name)
    return [None if one is None else verdicts.get(one.ran.id) for one in kept]


def _by_cell(ctx: Context, kept: list[HandedAttempt]) -> dict[CellProtocol, list[HandedAttempt]]:
    """Group attempts by cell. With a single cell no lookup is needed: the fence of the statement decides."""
    if len(ctx.store.cells) == 1:
        return {ctx.store.cells[0]: kept} if kept else {}
    found: dict[CellProtocol, list[HandedAttempt]] = {}
    for one in kept:
        try:
            found.setdefault(ctx.store.cell(one.ran.shard), []).append(one)
        except ShardClosed:
            continue
    return found


async def _end(ctx: Context, cell: CellProtocol, kept: list[HandedAttempt]) -> set[UUID]:
    """End attempts. Returns the ids of the attempts that were still held. All batches sort alike, so none deadlocks."""
    kept.sort(key=lambda one: (one.ran.shard, one.ran.id))

    async def work(tx: Tx) -> set[UUID]:
        took = {since: column_ms(tx.now - since) for since in {one.since for one in kept}}
        return await instances.succeed(tx, [(one.ran, took[one.since]) for one in kept])

    tracer = ctx.memory.tracer
    began = None if tracer is None else cell.clock.seconds()
    written = await cell.run_statements(work)
    if tracer is not None and began is not None:
        await _trace(ctx, tracer, cell, kept, written, began)
    classes = Counter((one.ran.priority, one.ran.lane) for one in kept if one.ran.id in written)
    for (priority, lane), many in classes.items():
        cell.signal_counts.count_result(ctx.tenant.id, priority, lane, AttemptResult.SUCCESS, many)
    return written


async def _trace(
    ctx: Context, tracer: Tracer, cell: CellProtocol, kept: list[HandedAttempt], written: set[UUID], began: float
) -> None:
    """Record the sampled attempts and the write of their results."""
    sampled = [one for one in kept if tracer.samples(one.ran.id.int, one.ran.caller_trace)]
    if not sampled:
        return
    known = await ctx.definitions.load_from(
        cell, {(one.ran.shard, one.ran.job_id, one.ran.job_version) for one in sampled}
    )
    now, ended = cell.clock.now(), cell.clock.seconds()
    for one in sampled:
        job = known.get((one.ran.job_id, one.ran.job_version))
        trace_finish(tracer, one.ran, "" if job is None else job.name, one.since, now, Success())
        tracer.record(settle_span(one.ran, new_span_id(), began, ended, written=one.ran.id in written))
