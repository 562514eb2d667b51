"""Backfill groups: the same backfill for every job that is chosen by label. Each job has a part of its own.

A group has no row. Its id is made of the tenant, the idempotency key and the request, and each part carries it. So no
transaction spans shards: a request that broke off is repeated under its key, finds the parts that exist, and begins
the others.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.errors import Conflict, HoraeError, Invalid, NotFound
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job, JobFilter
from horae.domain.schedules import backfills as rules
from horae.domain.schedules.backfill_progress import BackfillProgress, combined, progress_of
from horae.domain.schedules.backfills import Backfill, BackfillStatus
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.refusals import refusal_of
from horae.service.schedules import backfills as verbs
from horae.service.schedules.backfills import BackfillDetail, BackfillPart, BackfillRequest
from horae.store.schedules import backfills
from horae.store.tx import Tx

MOST_JOBS: Final = rules.MAX_RUNNING
"""Jobs of a group at most: as many backfills as a tenant may have under way."""


class GroupItem(NamedTuple):
    """What became of one job: its part, or the refusal."""

    job: Job
    backfill: Backfill | None = None
    refusal: HoraeError | None = None


class GroupStart(NamedTuple):
    """A group with the result for each job."""

    id: UUID
    items: list[GroupItem]


class GroupDetail(NamedTuple):
    """A group with its parts. It is RUNNING while one part runs, and then PAUSED while one part is."""

    id: UUID
    status: BackfillStatus
    parts: list[BackfillDetail]
    progress: BackfillProgress


async def start(ctx: Context, key: str, wanted: JobFilter, asked: BackfillRequest) -> GroupStart:
    """Begin a backfill of every wanted job, once per key. The rate is that of the whole, in equal parts."""
    verbs.check_request(key, asked)
    if wanted.any:
        raise Invalid("say which jobs: by label, by owner or by the beginning of their names")
    found = await jobs.page(ctx, wanted, limit=MOST_JOBS + 1)
    if not 1 <= len(found) <= MOST_JOBS:
        many = "no job matches" if not found else f"more than {MOST_JOBS} jobs match"
        raise Invalid(f"{many}; a backfill group has 1 to {MOST_JOBS} jobs")
    part = _part(ctx, key, wanted, asked)
    if asked.rate is not None:
        asked = replace(asked, rate=asked.rate / len(found))
    return GroupStart(part.group_id, [await _start_part(ctx, key, job, asked, part) for job in found])


async def show(ctx: Context, id_: UUID) -> GroupDetail:
    """Returns the progress of a group and of its parts, from the cells that answer."""
    details = sorted(await _details(ctx, id_), key=lambda one: one.backfill.id)
    states = {one.backfill.status for one in details}
    order = (BackfillStatus.RUNNING, BackfillStatus.PAUSED, BackfillStatus.CANCELLED, BackfillStatus.DONE)
    status = next(one for one in order if one in states)
    return GroupDetail(id_, status, details, combined(one.progress for one in details if one.progress is not None))


async def pause(ctx: Context, id_: UUID) -> GroupDetail:
    """Pause every part that runs."""
    return await _change(ctx, id_, verbs.pause)


async def resume(ctx: Context, id_: UUID) -> GroupDetail:
    """Resume every part that is paused."""
    return await _change(ctx, id_, verbs.resume)


async def cancel(ctx: Context, id_: UUID) -> GroupDetail:
    """Cancel every part that has not ended."""
    return await _change(ctx, id_, verbs.cancel)


async def _start_part(ctx: Context, key: str, job: Job, asked: BackfillRequest, part: BackfillPart) -> GroupItem:
    try:
        return GroupItem(job, (await verbs.start(ctx, job.name, key, asked, part)).backfill)
    except Exception as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        return GroupItem(job, refusal=refused)


def _part(ctx: Context, key: str, wanted: JobFilter, asked: BackfillRequest) -> BackfillPart:
    fingerprint = verbs.request_digest(asked, jobs=wanted)
    id_ = UUID(bytes=sha256(msgspec.json.encode([ctx.tenant.id, key, fingerprint])).digest()[:16])
    return BackfillPart(id_, fingerprint)


async def _change(ctx: Context, id_: UUID, verb: Callable[[Context, UUID], Awaitable[Backfill]]) -> GroupDetail:
    """Apply a verb to each part. A part that is in another state, such as one that has ended, stays as it is."""
    for part in await _parts(ctx, id_):
        with suppress(Conflict):
            await verb(ctx, part.id)
    return await show(ctx, id_)


async def _parts(ctx: Context, id_: UUID) -> list[Backfill]:
    """Returns every part; raises if a cell is down, because a part there would be left as it is."""
    found = await ctx.ask_each(lambda tx: backfills.of_group(tx, ctx.tenant.id, id_, MOST_JOBS), whole=True)
    parts = list(chain.from_iterable(found))
    if not parts:
        raise _missing(ctx, id_)
    return parts


async def _details(ctx: Context, id_: UUID) -> list[BackfillDetail]:
    async def ask(tx: Tx) -> list[BackfillDetail]:
        parts = await backfills.of_group(tx, ctx.tenant.id, id_, MOST_JOBS)
        waiting = [await backfills.count_live(tx, part, rules.MAX_WAITING) for part in parts]
        return [
            BackfillDetail(part, many, {}, progress_of(part, many, tx.now))
            for part, many in zip(parts, waiting, strict=True)
        ]

    found = list(chain.from_iterable(await ctx.ask_each(ask)))
    if not found:
        raise _missing(ctx, id_)
    return found


def _missing(ctx: Context, id_: UUID) -> NotFound:
    return NotFound(f"tenant {ctx.tenant.name!r} has no backfill group {public(Prefix.BACKFILL_GROUP, id_)}")
