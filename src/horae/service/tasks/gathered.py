"""Single puts of concurrent callers, written together: each is decided and answered as if it were the only one.

Puts are together if they have the same type, cell and caller. A put that meets no other is written by the statements of
a single task, which are cheaper for one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.jobs.jobs import Job
from horae.domain.tasks import tasks as rules
from horae.runtime.gathering import Write
from horae.runtime.tracing import caller_trace
from horae.service.context import Context
from horae.service.identity.bound_keys import find_type
from horae.service.tasks import tasks
from horae.service.tasks.batches import PlacedIntent, TaskIntent, schedule_in_cell
from horae.service.tasks.tasks import ScheduleAnswer
from horae.service.tenants.places import retry_if_widened
from horae.store.protocol import CellProtocol


class GroupKey(NamedTuple):
    """What puts must have in common to be written together."""

    tenant_id: UUID
    widenings: int
    job_id: UUID
    job_version: int
    actor: str
    cell: str


class PlacedPut(NamedTuple):
    """A put with its shard and the business key of its row."""

    shard: int
    key: str
    wish: TaskIntent


async def schedule(
    ctx: Context,
    type_name: str,
    key: str,
    *,
    at: datetime | None = None,
    payload: Any = msgspec.UNSET,
    version: int | None = None,
) -> ScheduleAnswer:
    """Set the time of a business key as `tasks.schedule` does, together with other puts of the same caller.

    A put in a sampled trace is written by itself, because its row names its trace.
    """
    if caller_trace() is not None:
        return await tasks.schedule(ctx, type_name, key, at=at, payload=payload, version=version)
    rules.check_time(at)
    rules.check_payload(payload)
    wish = TaskIntent(key, at, payload, version)
    return await retry_if_widened(ctx, lambda ctx: _schedule(ctx, type_name, wish))


async def _schedule(ctx: Context, type_name: str, wish: TaskIntent) -> ScheduleAnswer:
    job = await find_type(ctx, type_name)
    place = await tasks.place_of(ctx, job, wish.key)
    cell = ctx.store.cell(place.shard)
    key = GroupKey(ctx.tenant.id, len(ctx.tenant.former), job.id, job.version, ctx.actor, cell.name)
    group = ctx.memory.puts.find(key, lambda: _writer(ctx, job, cell))
    answer: ScheduleAnswer = await group.add(PlacedPut(place.shard, place.key, wish))
    return answer


def _writer(ctx: Context, job: Job, cell: CellProtocol) -> Write[PlacedPut, ScheduleAnswer]:
    """Returns the function that writes puts of a type in a cell."""

    async def write(puts: Sequence[PlacedPut]) -> Sequence[ScheduleAnswer | Exception]:
        if len(puts) == 1:
            wish = puts[0].wish
            return [
                await tasks.schedule(ctx, job.name, wish.key, at=wish.at, payload=wish.payload, version=wish.version)
            ]
        asked = [PlacedIntent(put.shard, put.key, number, put.wish) for number, put in enumerate(puts)]
        answers = await schedule_in_cell(ctx, job, cell, asked)
        return [answers[number] for number in range(len(puts))]

    return write
