"""When an instance that waits expires, for display."""

from datetime import datetime

from horae.domain.ids import shard_in
from horae.domain.instances.expiry import expires_at
from horae.domain.instances.lifecycle import WAITING, State
from horae.service.context import Context
from horae.service.instances.searches import InstanceRecord


async def of_instance(ctx: Context, past: InstanceRecord) -> datetime | None:
    """Returns when a waiting instance becomes SKIPPED or DEAD; None where it does not wait, or never expires."""
    if State(past.state) not in WAITING:
        return None
    shard = shard_in(past.id)
    known = await ctx.definitions.load_from(ctx.store.cell(shard), [(shard, past.job_id, past.job_version)])
    job = known.get((past.job_id, past.job_version))
    return None if job is None else expires_at(past, job)
