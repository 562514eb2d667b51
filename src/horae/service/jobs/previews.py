"""Previews of jobs that are not created: their values, and when they would fire."""

from collections.abc import Mapping

from msgspec.structs import replace

from horae.domain.jobs.jobs import Definition, Job, check_labels, check_name, new_job
from horae.domain.schedules import check, first_wake
from horae.domain.schedules.calendars import Calendar
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.graphs.step_jobs import check_steps
from horae.service.schedules.schedules import Preview, preview_of


def preview_definition(
    ctx: Context, name: str, definition: Definition, known: Mapping[str, Calendar]
) -> tuple[Job, Preview]:
    """Returns the job and the preview of its schedule. Refused as its creation would be. Nothing is written."""
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
    return job, preview_of(schedule, now)
