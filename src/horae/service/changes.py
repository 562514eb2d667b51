"""What every change of a job leaves behind in its own transaction: an event, an audit row, a copy of a type."""

from msgspec.structs import replace

from horae.domain.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Definition, Job, Status
from horae.runtime.chance import mint
from horae.service.context import Context
from horae.store import audit, outbox, references
from horae.store.tx import Tx


async def tell(ctx: Context, tx: Tx, job: Job, event: Event, detail: dict[str, object]) -> None:
    """Leave the event and the audit row of a change, and publish the job where tasks may need it."""
    await outbox.append(tx, job.shard, job.tenant_id, event, {"name": job.name, **detail}, job_id=job.id)
    await audit.append(
        tx,
        job.shard,
        mint(job.shard, tx.now),
        job.tenant_id,
        actor=ctx.actor,
        action=event.lower().replace("_", "."),
        resource=public(Prefix.JOB, job.id),
        detail={"name": job.name, **detail},
    )
    if job.spread:
        body = {"id": job.id, "version": job.version, "status": job.status, "definition": _copied(job)}
        await references.publish(tx, "job", job.id, job.tenant_id, job.shard, job.name, body)
    ctx.types.forget(ctx.tenant, job.name)


def _copied(job: Job) -> Definition:
    """What every cell keeps of a definition: of a removed job no payload, for it is never sent."""
    return replace(job.definition, payload=None, sealed=None) if job.status == Status.REMOVED else job.definition
