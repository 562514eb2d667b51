"""Jobs that are not created: what they would be, for previews and forecasts."""

from msgspec.structs import replace

from horae.domain.jobs.jobs import Definition, Job, check_labels, check_name, new_job
from horae.domain.schedules import Schedule, check, first_wake
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.graphs.step_jobs import check_steps
from horae.service.schedules import calendars


async def unsaved_job(ctx: Context, name: str, definition: Definition) -> tuple[Job, Schedule]:
    """Returns a job as its creation would make it, and its schedule. Refused as that would be. Nothing is written."""
    known = await calendars.by_names(ctx, [rule.calendar for rule in definition.policies.calendars])
    check_name(name)
    check_labels(definition.labels)
    check_steps(ctx, name, definition)
    shard = ctx.tenant.shard(name)
    now = ctx.now(shard)
    job = new_job(new_id(shard, now), ctx.tenant.id, name, definition)
    schedule = job.schedule(known)
    if job.recurring:
        check(schedule, now)
        job = replace(job, next_fire_at=first_wake(schedule, now))
    return job, schedule
