"""The request line of a plain success, which is not stored: the version of its job says it."""

from contextlib import suppress

from horae.domain.errors import HoraeError
from horae.domain.ids import shard_in
from horae.domain.targets.targets import request_line
from horae.service.context import Context
from horae.store.instances.history import InstanceRecord
from horae.store.tx import CUT, GONE


async def with_request_line(ctx: Context, past: InstanceRecord) -> InstanceRecord:
    """Returns an instance whose plain attempt has its request line.

    The line stays unknown where that version of the job is no longer kept, or its cell does not answer.
    """
    if past.node is None or not past.attempts:
        return past
    line, shard = None, shard_in(past.id)
    with suppress(HoraeError, *GONE, *CUT):
        known = await ctx.definitions.load_from(ctx.store.cell(shard), [(shard, past.job_id, past.job_version)])
        job = known.get((past.job_id, past.job_version))
        if job is not None and job.version == past.job_version:
            line = request_line(job.definition.target)
    return past._replace(attempts=[{**attempt, "request": line} for attempt in past.attempts])
