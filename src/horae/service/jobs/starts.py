"""Starts what an edge starts: an instance of a job, or a task of a type. A repeat changes nothing."""

from horae.domain.ids import Prefix, public, shard_in
from horae.domain.jobs.edges import Edge, EndedInstance
from horae.service.context import Context
from horae.service.idempotency import IdempotentCall, once
from horae.service.identity.bound_keys import find_type
from horae.service.instances import instances
from horae.service.tasks import tasks
from horae.service.tenants.places import retry_if_widened
from horae.store.jobs import edges

ROUTE = "edges.start"
"""The route of the idempotency keys under which tasks are put."""


async def start(ctx: Context, edge: Edge, ended: EndedInstance) -> None:
    """Start the job of an edge for an ended instance of the other job, whose id is the idempotency key."""
    key = f"after:{public(Prefix.INSTANCE, ended.instance_id)}"
    if edge.is_keyed:
        await retry_if_widened(ctx, lambda ctx: _put_task(ctx, edge, ended, key))
    else:
        await instances.trigger(ctx, edge.name, key, even_if_down=True, fire_time=ended.fire_time)


async def refuse(ctx: Context, edge: Edge, ended: EndedInstance, code: str, reason: str) -> None:
    """Record that an ended instance starts nothing, and why."""
    body = {
        "name": edge.name,
        "after": edge.after.job,
        "ended": public(Prefix.INSTANCE, ended.instance_id),
        "key": ended.key,
        "code": code,
        "reason": reason,
    }
    shard = shard_in(edge.job_id)
    await ctx.store.run(shard, lambda tx: edges.refuse(tx, edge, ended.instance_id, body))


async def _put_task(ctx: Context, edge: Edge, ended: EndedInstance, key: str) -> None:
    """Put the task of the same business key: due at once, or at the due time of the ended instance if that is later."""
    assert ended.key is not None
    business_key = ended.key
    job = await find_type(ctx, edge.name)
    shard = (await tasks.place_of(ctx, job, business_key)).shard
    at = ended.due_at if ended.due_at > ctx.now(shard) else None
    asked = IdempotentCall(key, ROUTE, f"{edge.name}/{business_key}", shard, None)
    await once(
        ctx,
        asked,
        lambda ctx: tasks.schedule(ctx, edge.name, business_key, at=at, version=ended.intent_version),
        lambda answer: answer.decision,
    )
