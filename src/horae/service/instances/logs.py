"""Log lines of attempts: workers append them, callers who may read payloads read them.

Lines are off the hot path: they have a request, a statement and a table of their own, and no fire reads them.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import log_of
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.logs import (
    LogBatch,
    LogLine,
    LogMark,
    NumberedLine,
    check_lines,
    lines_after,
)
from horae.domain.workers.workers import ReportVerdict, check_many
from horae.runtime.telemetry import count, log
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.instances import tiers
from horae.service.limits.counts import allowance_of
from horae.service.workers.ownership import NOT_NOW, by_cell, count_refused, prove
from horae.store.instances import logs
from horae.store.instances.logs import AppendedBatch, LogRow, StoredBatch
from horae.store.protocol import CellProtocol
from horae.store.tx import GONE, Tx
from horae.store.workers.workers import RunningAttempt

BATCHES_PER_READ: Final = 16
"""Batches that one read decrypts: at most 2 MiB."""
MAX_PARTS: Final = 8
"""Batches of one instance that a request may store: each takes a transaction of its own."""
NO_SLOT: Final = timedelta()


class LogPage(NamedTuple):
    """Lines of an instance, and where the next page begins. `is_end`: there are no more lines now."""

    lines: list[NumberedLine]
    next: LogMark
    is_end: bool


async def append(ctx: Context, batches: Sequence[LogBatch]) -> list[ReportVerdict]:
    """Store lines of running attempts: done, late, not now, or full.

    A batch that was stored before is done. A batch is full where the tenant has logged as much as it may today. Not now
    are batches in a cell that is down or a shard that moves, and those of an instance that has very many here.
    """
    check_many(len(batches))
    sizes = {one: check_lines(one.lines, one.first) for one in batches}
    most = (await allowance_of(ctx)).log_bytes
    if ctx.memory.log_usage.used(ctx.tenant.id, ctx.now().date()) >= most:
        count("log.full", len(batches), tenant=ctx.tenant.name)
        return [ReportVerdict.FULL] * len(batches)
    verdicts: dict[LogBatch, ReportVerdict] = {}
    for part in _one_of_each_instance(batches):
        for cell, here in by_cell(ctx, part).items():
            try:
                verdicts |= await _append(ctx, cell, here, sizes, most)
            except NOT_NOW as error:
                log.warning("log.cell_down", cell=cell.name, reason=type(error).__name__)
    ctx.memory.tails.wake({one.instance_id for one, how in verdicts.items() if how is ReportVerdict.DONE})
    return [verdicts.get(one, ReportVerdict.NOT_NOW) for one in batches]


async def read(ctx: Context, instance_id: UUID, after: LogMark, limit: int) -> LogPage:
    """Returns the lines of an instance after a mark, from every cell that held its shard, decrypted."""
    found: list[StoredBatch] = []
    for cell in (*ctx.store.former_cells(shard_in(instance_id)), ctx.store.cell(shard_in(instance_id))):
        try:
            async with cell.statement() as tx:
                found += await logs.page(tx, ctx.tenant.id, instance_id, after, BATCHES_PER_READ)
        except GONE:
            if cell is ctx.store.cell(shard_in(instance_id)):
                raise
            ctx.cells_down.add(cell.name)
    found = sorted(found, key=lambda one: one[:2])
    batches = [(one.attempt, one.first, await _decrypt(ctx, instance_id, one)) for one in found[:BATCHES_PER_READ]]
    lines = list(lines_after(after, batches))
    cut = lines[:limit]
    end = LogMark(cut[-1].attempt, cut[-1].number + (cut[-1].line is not None)) if cut else after
    return LogPage(cut, end, len(cut) == len(lines) and len(found) < BATCHES_PER_READ)


async def check_readable(ctx: Context, instance_id: UUID) -> None:
    """Refuse an instance that there is not, or that the caller may not see."""
    await tiers.find(ctx, instance_id)


async def _decrypt(ctx: Context, instance_id: UUID, batch: StoredBatch) -> list[LogLine]:
    lines = await ctx.store.cipher.decrypt(ctx.tenant.id, log_of(instance_id), batch.body)
    return msgspec.convert(lines, list[LogLine])


def _one_of_each_instance(batches: Sequence[LogBatch]) -> list[list[LogBatch]]:
    """Split batches into parts with at most one batch of an instance, in order; nearly always one part.

    The batches of an instance that the last part has no place for are left out.
    """
    parts: list[dict[UUID, LogBatch]] = []
    for one in batches:
        free = next((part for part in parts if one.instance_id not in part), None)
        if free is None and len(parts) < MAX_PARTS:
            parts.append(free := {})
        if free is not None:
            free[one.instance_id] = one
    return [list(part.values()) for part in parts]


async def _append(
    ctx: Context, cell: CellProtocol, batches: Sequence[LogBatch], sizes: dict[LogBatch, int], most: int
) -> dict[LogBatch, ReportVerdict]:
    """Store batches in one cell. A batch in a moving shard has no verdict, which means "not now"."""
    owned = _remembered(ctx, batches)
    rest = [one for one in batches if one not in owned]
    verdicts: dict[LogBatch, ReportVerdict] = {}
    if rest:
        async with cell.statement() as tx:
            proof = await prove(ctx, tx, rest)
        owned |= proof.proven
        verdicts = dict.fromkeys(proof.refused, ReportVerdict.LATE)
    if not owned:
        return verdicts
    key = await ctx.store.cipher.key(ctx.tenant.id)
    rows = [
        LogRow(run.ran, run.since, one.first, len(one.lines), sizes[one],
               encrypt_value(key, log_of(one.instance_id), msgspec.to_builtins(one.lines)))
        for one, run in sorted(owned.items(), key=lambda pair: (pair[1].ran.shard, pair[1].ran.id))
    ]  # fmt: skip

    async def work(tx: Tx) -> dict[UUID, AppendedBatch]:
        return await logs.append(tx, rows)

    written = await cell.run_statements(work)
    stored = sum(sizes[one] for one in owned if written[one.instance_id].is_stored)
    await _count_usage(ctx, cell, stored, most)
    for one in owned:
        how = written[one.instance_id]
        verdicts[one] = ReportVerdict.DONE if how.is_stored or how.is_known else ReportVerdict.LATE
    count_refused(ctx, sum(1 for one in owned if verdicts[one] is ReportVerdict.LATE))
    return verdicts


async def _count_usage(ctx: Context, cell: CellProtocol, stored: int, most: int) -> None:
    """Count the bytes of a tenant; every few seconds its row is written, and read."""
    usage, today = ctx.memory.log_usage, ctx.now().date()
    if due := usage.add(ctx.tenant.id, cell.name, today, stored, most):
        async with cell.statement() as tx:
            total = await logs.add_usage(tx, ctx.tenant.id, today, due)
        usage.learn(ctx.tenant.id, cell.name, today, due, total)


def _remembered(ctx: Context, batches: Sequence[LogBatch]) -> dict[LogBatch, RunningAttempt]:
    """Returns the attempts that this process handed out and remembers: their rows need no read."""
    found = {}
    for one in batches:
        kept = ctx.handed.find(ctx.tenant.id, public(Prefix.INSTANCE, one.instance_id), one.attempt, one.token)
        if kept is not None:
            found[one] = RunningAttempt(kept.ran, kept.since, NO_SLOT)
    return found
