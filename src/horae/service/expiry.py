"""When the wait of an instance ends, as people ask for it."""

from datetime import datetime

from horae.domain.expiry import expires_at
from horae.domain.ids import shard_in
from horae.domain.lifecycle import WAITING, State
from horae.service.context import Context
from horae.service.search import Past


async def of_instance(ctx: Context, past: Past) -> datetime | None:
    """When an instance that waits is SKIPPED or DEAD at the latest; None: it does not wait, or without end."""
    if State(past.state) not in WAITING:
        return None
    shard = shard_in(past.id)
    known = await ctx.definitions.load_from(ctx.store.cell(shard), [(shard, past.job_id, past.job_version)])
    job = known.get((past.job_id, past.job_version))
    return None if job is None else expires_at(past, job)
