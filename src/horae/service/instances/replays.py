"""Replays of dead letters: one, or many after an incident.

A replay runs by the current version of the job, because it usually follows a fix. A single replay uses the lane of
first attempts, because a person waits for it. Many use the backfill lane, so that they never delay due work; they run
beside the fires of their job, whatever its overlap policy says.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from msgspec import UNSET

from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.errors import Conflict, Forbidden, Invalid, NotFound, RetryLimited, Unavailable
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.dead_letters import (
    DeadLetter,
    DeadLetterFilter,
    DeadLetterMark,
    check_open,
    check_wanted,
    replayable_job,
)
from horae.domain.instances.instances import Lane
from horae.domain.jobs.jobs import Job
from horae.domain.targets.targets import queue_of, slot_ms
from horae.runtime.randomness import new_id
from horae.security.payload_cipher import encrypt_value
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.service.identity.bound_keys import check_job
from horae.service.instances.overlap import runs_alone, take_turn
from horae.service.jobs import jobs
from horae.service.limits import retry_budgets
from horae.store.connections.each_cell import ask_each
from horae.store.instances import dead_letters
from horae.store.instances.dead_letters import Replay
from horae.store.jobs import jobs as rows
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

PAGE: Final = 200
"""Dead letters that one transaction replays at most."""
FIRST: Final = DeadLetterMark(datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))
"""A mark that is older than every dead letter."""


class ReplayCount(NamedTuple):
    """How many dead letters were replayed, and how many could not be."""

    sent: int
    refused: int


NotePage = Callable[[Tx, ReplayCount, DeadLetterMark], Awaitable[None]]
"""Notes what a page has done, and the mark after which the next one begins."""


async def _note_nothing(_tx: Tx, _done: ReplayCount, _mark: DeadLetterMark) -> None:
    """Note nothing: who asked for the replay waits for its answer."""


async def replay(ctx: Context, instance_id: UUID, payload: Any = UNSET) -> UUID:
    """Replay one dead letter now, with its own payload or an edited one. Returns the new instance.

    The dead letter keeps the edited payload, so that a later replay sends the same.
    """
    if payload is None:
        raise Invalid("an edited payload is a value, not null; leave it out to send the payload of the dead letter")
    await retry_budgets.spend(ctx)
    key = None if payload is UNSET else await ctx.store.cipher.key(ctx.tenant.id)

    async def work(tx: Tx) -> UUID:
        dead_letter = await open_dead_letter(ctx, tx, instance_id)
        job = replayable_job((await rows.current(tx, ctx.tenant.id, {dead_letter.job_id})).get(dead_letter.job_id))
        if job is None:
            raise Conflict(
                "the job of this dead letter was removed, or a newer release wrote it: nothing here can run it"
            )
        row = _row(dead_letter, job, tx)
        state, alone = await take_turn(tx, job), runs_alone(job)
        edited = None
        if payload is not UNSET:
            edited = encrypt_value(key, payload_of(dead_letter.job_id, dead_letter.idem_key), payload)
        sent = await dead_letters.replay(
            tx, ctx.tenant.id, [row], Lane.FIRST, ctx.actor, state=state, exclusive=alone, edited_payload=edited
        )
        if not sent:
            raise Conflict(
                "its business key has a live instance, has succeeded or went on to a new generation,"
                " or its shard is moving; nothing was replayed"
            )
        detail = {"instance": public(Prefix.INSTANCE, row.id), **({} if payload is UNSET else {"edited": True})}
        await record(ctx, tx, "dead_letter.replayed", dead_letter.shard, public(Prefix.INSTANCE, instance_id), detail)
        return row.id

    asked = ctx.now(shard_in(instance_id))  # nodes scan from here on: not after its due time
    replayed = await ctx.store.run(shard_in(instance_id), work)
    ctx.wakes.wake(shard_in(instance_id), asked)  # a person waits for it
    return replayed


async def replay_by(
    ctx: Context,
    *,
    job: str | None = None,
    tag: str | None = None,
    error_code: str | None = None,
    cause_id: UUID | None = None,
    limit: int = 1000,
) -> ReplayCount:
    """Replay many dead letters, the oldest of each cell first.

    1. Ask all cells at the same time whether they have matching dead letters. A cell that is down is left out and named
       in `cells_down`.
    2. For each page of a cell, take its size from the retry budget, then replay the page in one transaction.
    3. Stop at `limit`, or when the budget is empty. If the budget is empty before the first page, refuse.
    """
    wanted = await wanted_of(ctx, job, tag, error_code, cause_id)
    check_wanted(wanted, limit)
    sent = refused = 0
    cells = (await ask_each(ctx.store.cells, partial(_has_any, ctx, wanted))).found
    ctx.cells_down.update(cell.name for cell in ctx.store.cells if cell not in cells)
    if not cells:
        raise Unavailable("no cell answers now; nothing was replayed")
    largest = min(PAGE, await retry_budgets.most_at_once(ctx))
    for cell in [cell for cell, has_any in cells.items() if has_any]:
        after: DeadLetterMark | None = FIRST
        while after is not None and sent < limit:
            most = min(largest, limit - sent)
            try:
                await _spend(ctx, cell, wanted, after, most)
            except RetryLimited:
                if not sent:
                    raise
                return ReplayCount(sent, refused)
            page, after = await replay_page(ctx, cell, wanted, after, most)
            sent, refused = sent + page.sent, refused + page.refused
    return ReplayCount(sent, refused)


async def _has_any(ctx: Context, wanted: DeadLetterFilter, cell: CellProtocol) -> bool:
    """Whether a cell has dead letters to replay. All cells are asked at once, to leave out a cell that is down."""
    async with cell.statement() as tx:
        return bool(await dead_letters.replayable(tx, ctx.tenant.id, wanted, FIRST, 1))


async def _spend(ctx: Context, cell: CellProtocol, wanted: DeadLetterFilter, after: DeadLetterMark, limit: int) -> None:
    async with cell.statement() as tx:
        many = len(await dead_letters.replayable(tx, ctx.tenant.id, wanted, after, limit))
    if many:
        await retry_budgets.spend(ctx, many)


async def replay_page(
    ctx: Context,
    cell: CellProtocol,
    wanted: DeadLetterFilter,
    after: DeadLetterMark,
    limit: int,
    note: NotePage = _note_nothing,
) -> tuple[ReplayCount, DeadLetterMark | None]:
    """Replay one page in one transaction. Returns the mark of the next page; None where there is none.

    `note` may write into the same transaction what was done.
    """

    async def work(tx: Tx) -> tuple[ReplayCount, DeadLetterMark | None]:
        page = await dead_letters.replayable(tx, ctx.tenant.id, wanted, after, limit)
        if not page:
            return ReplayCount(0, 0), None
        sent = await send_as_backfill(ctx, tx, page)
        if sent:
            detail = {"wanted": wanted, "letters": [public(Prefix.INSTANCE, id_) for id_ in sent]}
            await record(ctx, tx, "dead_letter.replayed", shard_in(next(iter(sent))), "dead_letters", detail)
        done = ReplayCount(len(sent), len(page) - len(sent))
        await note(tx, done, page[-1].mark)
        return done, page[-1].mark

    return await cell.run(work)


async def send_as_backfill(ctx: Context, tx: Tx, page: Sequence[DeadLetter]) -> dict[UUID, UUID]:
    """Replay dead letters of one cell in the backfill lane. Returns the new instance of each that could be replayed."""
    known = await rows.current(tx, ctx.tenant.id, {dead_letter.job_id for dead_letter in page})
    ready = [_row(one, job, tx) for one in page if (job := replayable_job(known.get(one.job_id))) is not None]
    return await dead_letters.replay(tx, ctx.tenant.id, ready, Lane.BACKFILL, ctx.actor) if ready else {}


async def wanted_of(
    ctx: Context, job: str | None, tag: str | None, error_code: str | None, cause_id: UUID | None = None
) -> DeadLetterFilter:
    """Returns a filter of dead letters, with the name of their job resolved."""
    return DeadLetterFilter(None if job is None else (await jobs.find(ctx, job)).id, tag, error_code, cause_id)


async def open_dead_letter(ctx: Context, tx: Tx, instance_id: UUID) -> DeadLetter:
    """Returns the dead letter of an instance. Refused where it can no longer be replayed or discarded."""
    dead_letter = await dead_letters.find(tx, ctx.tenant.id, instance_id)
    if dead_letter is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no dead letter {public(Prefix.INSTANCE, instance_id)}")
    if ctx.job_labels:
        job = (await rows.current(tx, ctx.tenant.id, {dead_letter.job_id})).get(dead_letter.job_id)
        if job is None:
            raise Forbidden("the job of this dead letter was removed, so nobody can say whether the key is bound to it")
        check_job(ctx, job)
    check_open(dead_letter)
    return dead_letter


def _row(dead_letter: DeadLetter, job: Job, tx: Tx) -> Replay:
    target = job.definition.target
    priority = job.definition.priority
    id_ = new_id(dead_letter.shard, tx.now)
    return Replay(
        dead_letter.shard, dead_letter.instance_id, id_, job.version, priority, slot_ms(target), queue_of(target)
    )
