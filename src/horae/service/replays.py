"""Dead letters sent again: one that someone waits for, or many after an incident.

A replay runs by the job as it is now, because it usually follows a repair. One letter goes by the lane of first tries:
someone waits for it. Many go as a backfill, so that they never push aside what is due; they run beside the fires of
their job, whatever its overlap policy says.
"""

from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.dead_letters import Letter, Mark, Wanted, check_open, check_wanted, living
from horae.domain.errors import Conflict, NotFound, RetryLimited, Unavailable
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances import Lane
from horae.domain.jobs import Job
from horae.domain.targets import queue_of, slot_ms
from horae.runtime.chance import mint
from horae.service import budgets, jobs
from horae.service.context import Context
from horae.service.turns import runs_alone, take_turn
from horae.store import audit, dead_letters
from horae.store import jobs as rows
from horae.store.cells import Cell
from horae.store.dead_letters import Replay
from horae.store.each import ask_each
from horae.store.tx import Tx

PAGE: Final = 200
FIRST: Final = Mark(datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))


class Replayed(NamedTuple):
    """How many letters were sent again, and how many could not be."""

    sent: int
    refused: int


async def replay(ctx: Context, instance_id: UUID) -> UUID:
    """Send one letter again, now; returns the new instance."""
    await budgets.spend(ctx)

    async def work(tx: Tx) -> UUID:
        letter = await open_letter(ctx, tx, instance_id)
        job = living((await rows.current(tx, ctx.tenant.id, {letter.job_id})).get(letter.job_id))
        if job is None:
            raise Conflict(
                "the job of this dead letter was removed, or a newer release wrote it: nothing here can run it"
            )
        row = _row(letter, job, tx)
        state, alone = await take_turn(tx, job), runs_alone(job)
        sent = await dead_letters.replay(tx, ctx.tenant.id, [row], Lane.FIRST, ctx.actor, state=state, exclusive=alone)
        if not sent:
            raise Conflict(
                "its business key has a live instance, has succeeded or went on to a new generation,"
                " or its shard is moving; nothing was replayed"
            )
        detail = {"instance": public(Prefix.INSTANCE, row.id)}
        await record(ctx, tx, "dead_letter.replayed", letter.shard, public(Prefix.INSTANCE, instance_id), detail)
        return row.id

    asked = ctx.store.cell(shard_in(instance_id)).clock.now()  # not later than it is due: a node looks from here on
    replayed = await ctx.store.run(shard_in(instance_id), work)
    ctx.wakes.wake(shard_in(instance_id), asked)  # someone waits for it
    return replayed


async def replay_by(
    ctx: Context, *, job: str | None = None, tag: str | None = None, error_code: str | None = None, limit: int = 1000
) -> Replayed:
    """Send many letters again, the oldest of each cell first, a few hundred in one transaction.

    It ends early where the tenant's budget does; when that is so at once, it is refused.
    """
    wanted = await wanted_of(ctx, job, tag, error_code)
    check_wanted(wanted, limit)
    sent = refused = 0
    cells = (await ask_each(ctx.store.cells, partial(_has_any, ctx, wanted))).found
    ctx.cells_down.update(cell.name for cell in ctx.store.cells if cell not in cells)
    if not cells:
        raise Unavailable("no cell answers now; nothing was replayed")
    largest = min(PAGE, await budgets.most_at_once(ctx))
    for cell in [cell for cell, has_any in cells.items() if has_any]:
        after: Mark | None = FIRST
        while after is not None and sent < limit:
            most = min(largest, limit - sent)
            try:
                await _spend(ctx, cell, wanted, after, most)
            except RetryLimited:
                if not sent:
                    raise
                return Replayed(sent, refused)
            page, after = await _page(ctx, cell, wanted, after, most)
            sent, refused = sent + page.sent, refused + page.refused
    return Replayed(sent, refused)


async def _has_any(ctx: Context, wanted: Wanted, cell: Cell) -> bool:
    """Whether a cell has letters to send again; asked of all at once, so that one that is down is left out."""
    async with cell.statement() as tx:
        return bool(await dead_letters.replayable(tx, ctx.tenant.id, wanted, FIRST, 1))


async def _spend(ctx: Context, cell: Cell, wanted: Wanted, after: Mark, limit: int) -> None:
    async with cell.statement() as tx:
        many = len(await dead_letters.replayable(tx, ctx.tenant.id, wanted, after, limit))
    if many:
        await budgets.spend(ctx, many)


async def _page(ctx: Context, cell: Cell, wanted: Wanted, after: Mark, limit: int) -> tuple[Replayed, Mark | None]:
    """One page in one transaction, and where the next one begins; None when there is no more."""

    async def work(tx: Tx) -> tuple[Replayed, Mark | None]:
        page = await dead_letters.replayable(tx, ctx.tenant.id, wanted, after, limit)
        if not page:
            return Replayed(0, 0), None
        known = await rows.current(tx, ctx.tenant.id, {letter.job_id for letter in page})
        ready = [_row(one, job, tx) for one in page if (job := living(known.get(one.job_id))) is not None]
        sent = await dead_letters.replay(tx, ctx.tenant.id, ready, Lane.BACKFILL, ctx.actor) if ready else {}
        if sent:
            detail = {"wanted": wanted, "letters": [public(Prefix.INSTANCE, id_) for id_ in sent]}
            await record(ctx, tx, "dead_letter.replayed", shard_in(next(iter(sent))), "dead_letters", detail)
        return Replayed(len(sent), len(page) - len(sent)), page[-1].mark

    return await cell.run(work)


async def wanted_of(ctx: Context, job: str | None, tag: str | None, error_code: str | None) -> Wanted:
    """Which letters are meant, by the name of their living job."""
    return Wanted(None if job is None else (await jobs.find(ctx, job)).id, tag, error_code)


async def open_letter(ctx: Context, tx: Tx, instance_id: UUID) -> Letter:
    """The tenant's letter of that instance, which may still be replayed or discarded."""
    letter = await dead_letters.find(tx, ctx.tenant.id, instance_id)
    if letter is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no dead letter {public(Prefix.INSTANCE, instance_id)}")
    check_open(letter)
    return letter


async def record(ctx: Context, tx: Tx, action: str, shard: int, resource: str, detail: object) -> None:
    """The audit row of a person's decision about letters; its own statement has passed the fence."""
    id_ = mint(shard, tx.now)
    await audit.append(tx, shard, id_, ctx.tenant.id, actor=ctx.actor, action=action, resource=resource, detail=detail)


def _row(letter: Letter, job: Job, tx: Tx) -> Replay:
    target = job.definition.target
    priority = job.definition.priority
    id_ = mint(letter.shard, tx.now)
    return Replay(letter.shard, letter.instance_id, id_, job.version, priority, slot_ms(target), queue_of(target))
