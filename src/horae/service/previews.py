"""Jobs that are not made: what they would be, and when they would fire."""

from collections.abc import Mapping

from msgspec.structs import replace

from horae.domain.calendars import Calendar
from horae.domain.jobs import Definition, Job, Status, check_labels, check_name
from horae.domain.schedule import check, first_wake
from horae.runtime.chance import mint
from horae.service.context import Context
from horae.service.schedules import Preview, foretell


def imagined(ctx: Context, name: str, definition: Definition, known: Mapping[str, Calendar]) -> tuple[Job, Preview]:
    """The job and what its schedule says; refused as its making would be. Nothing is written."""
    check_name(name)
    check_labels(definition.labels)
    shard = ctx.tenant.shard(name)
    now = ctx.store.cell(shard).clock.now()
    job = Job(
        shard=shard,
        id=mint(shard, now),
        tenant_id=ctx.tenant.id,
        name=name,
        version=1,
        status=Status.ACTIVE,
        definition=definition,
    )
    schedule = job.schedule(known)
    if job.recurring:
        check(schedule, now)
        job = replace(job, next_fire_at=first_wake(schedule, now))
    return job, foretell(schedule, now)
