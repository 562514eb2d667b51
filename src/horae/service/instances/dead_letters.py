"""Dead letters: list, replay and discard them. People decide this, so every change is audited."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import Conflict
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.dead_letters import DeadLetter, DeadLetterMark, ReplayStatus
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_dead_letter
from horae.service.instances.replays import (
    ReplayCount,
    open_dead_letter,
    replay,
    replay_by,
    wanted_of,
)
from horae.store.events import outbox
from horae.store.instances import dead_letters
from horae.store.jobs import jobs
from horae.store.tx import Tx

__all__ = ["ReplayCount", "discard", "listing", "replay", "replay_by"]
NEWEST: Final = DeadLetterMark(datetime(2199, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))
"""A mark that is newer than every dead letter."""


async def listing(
    ctx: Context,
    *,
    job: str | None = None,
    tag: str | None = None,
    error_code: str | None = None,
    cause_id: UUID | None = None,
    statuses: Sequence[ReplayStatus] = (),
    before: DeadLetterMark = NEWEST,
    limit: int = 50,
) -> list[DeadLetter]:
    """Returns the tenant's dead letters, newest first. The next page is `before` the mark of the last one."""
    wanted = await wanted_of(ctx, job, tag, error_code, cause_id)
    look = dead_letters.listing if wanted.job_id is None else dead_letters.of_job

    async def dead_letters_in(tx: Tx) -> list[DeadLetter]:
        here = await look(tx, ctx.tenant.id, wanted, list(statuses) or None, before, limit)
        known = await jobs.names(tx, ctx.tenant.id, {dead_letter.job_id for dead_letter in here})
        return [replace(one, job=known[one.job_id]) if one.job_id in known else one for one in here]

    found = chain.from_iterable(await ctx.ask_each(dead_letters_in))
    page = sorted(found, key=lambda dead_letter: dead_letter.mark, reverse=True)[:limit]
    return [await decrypt_dead_letter(ctx, dead_letter) for dead_letter in page]


async def discard(ctx: Context, instance_id: UUID) -> None:
    """Discard a dead letter for good."""

    async def work(tx: Tx) -> None:
        dead_letter = await open_dead_letter(ctx, tx, instance_id)
        if not await dead_letters.discard(tx, ctx.tenant.id, dead_letter):
            raise Conflict("the dead letter changed while it was being discarded, or its shard is moving; ask again")
        name = public(Prefix.INSTANCE, instance_id)
        body = {"instance_id": instance_id, "error_code": dead_letter.error_code, "key": dead_letter.business_key}
        shard, event = dead_letter.shard, Event.DEAD_LETTER_DISCARDED
        await outbox.append(tx, shard, ctx.tenant.id, event, body, job_id=dead_letter.job_id, instance_id=instance_id)
        await record(ctx, tx, "dead_letter.discarded", shard, name, body)

    await ctx.store.run(shard_in(instance_id), work)
