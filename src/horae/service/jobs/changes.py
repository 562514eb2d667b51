"""Writes the event and the audit row of a job change, and publishes a type, in the transaction of the change."""

from msgspec.structs import replace

from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.store.audit import audit
from horae.store.events import outbox
from horae.store.tenants import references
from horae.store.tx import Tx


async def record_change(ctx: Context, tx: Tx, job: Job, event: Event, detail: dict[str, object]) -> None:
    """Write the event and the audit row of a change, and publish the job to other cells where its tasks may need it."""
    await outbox.append(tx, job.shard, job.tenant_id, event, {"name": job.name, **detail}, job_id=job.id)
    await audit.append(
        tx,
        job.shard,
        new_id(job.shard, tx.now),
        job.tenant_id,
        actor=ctx.actor,
        action=event.lower().replace("_", "."),
        resource=public(Prefix.JOB, job.id),
        detail={"name": job.name, **detail},
    )
    if job.is_unreadable:
        await _publish_status(tx, job)
    elif job.spread:
        body = {"id": job.id, "version": job.version, "status": job.status, "definition": _copied_definition(job)}
        await references.publish(tx, "job", job.id, job.tenant_id, job.shard, job.name, body)
    ctx.types.forget(ctx.tenant, job.name)


async def _publish_status(tx: Tx, job: Job) -> None:
    """Publish the new status of a type that this release cannot read. Its definition stays as it was published."""
    body = await references.find(tx, job.tenant_id, "job", job.name)
    if body is not None:
        definition = body["definition"]
        if job.status == Status.REMOVED:
            definition = {name: value for name, value in definition.items() if name not in {"payload", "sealed"}}
        body = {**body, "status": job.status, "definition": definition}
        await references.publish(tx, "job", job.id, job.tenant_id, job.shard, job.name, body)


def _copied_definition(job: Job) -> Definition:
    """Returns the definition that other cells keep; for a removed job without its payload, which is never sent."""
    return replace(job.definition, payload=None, sealed=None) if job.status == Status.REMOVED else job.definition
