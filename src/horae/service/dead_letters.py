"""Dead letters: look at them, send them again, or give them up. People's decisions, hence audited."""

from datetime import UTC, datetime
from itertools import chain
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain.dead_letters import Letter, Mark, ReplayStatus
from horae.domain.errors import Conflict
from horae.domain.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.service.context import Context
from horae.service.replays import Replayed, open_letter, record, replay, replay_by, wanted_of
from horae.service.sealing import shown_letter
from horae.store import dead_letters, jobs, outbox
from horae.store.tx import Tx

__all__ = ["Replayed", "discard", "listing", "replay", "replay_by"]
NEWEST: Final = Mark(datetime(2199, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))


async def listing(
    ctx: Context,
    *,
    job: str | None = None,
    tag: str | None = None,
    error_code: str | None = None,
    status: ReplayStatus | None = None,
    before: Mark = NEWEST,
    limit: int = 50,
) -> list[Letter]:
    """The tenant's letters, newest first; the next page lies `before` the mark of this one's last."""
    wanted = await wanted_of(ctx, job, tag, error_code)
    look = dead_letters.listing if wanted.job_id is None else dead_letters.of_job

    async def letters(tx: Tx) -> list[Letter]:
        here = await look(tx, ctx.tenant.id, wanted, status, before, limit)
        known = await jobs.names(tx, ctx.tenant.id, {letter.job_id for letter in here})
        return [replace(one, job=known[one.job_id]) if one.job_id in known else one for one in here]

    found = chain.from_iterable(await ctx.ask_each(letters))
    page = sorted(found, key=lambda letter: letter.mark, reverse=True)[:limit]
    return [await shown_letter(ctx, letter) for letter in page]


async def discard(ctx: Context, instance_id: UUID) -> None:
    """Give one letter up for good."""

    async def work(tx: Tx) -> None:
        letter = await open_letter(ctx, tx, instance_id)
        if not await dead_letters.discard(tx, ctx.tenant.id, letter):
            raise Conflict("the dead letter changed while it was being discarded, or its shard is moving; ask again")
        name = public(Prefix.INSTANCE, instance_id)
        body = {"instance_id": instance_id, "error_code": letter.error_code, "key": letter.business_key}
        shard, event = letter.shard, Event.DEAD_LETTER_DISCARDED
        await outbox.append(tx, shard, ctx.tenant.id, event, body, job_id=letter.job_id, instance_id=instance_id)
        await record(ctx, tx, "dead_letter.discarded", shard, name, body)

    await ctx.store.run(shard_in(instance_id), work)
