"""Instances: trigger one by hand, and read what became of all."""

from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from horae.domain import keys
from horae.domain.errors import Conflict, DispatcherDown, Duplicate, Invalid, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance
from horae.domain.jobs import Job, Status
from horae.domain.lifecycle import State
from horae.domain.sealed import payload_of
from horae.domain.targets import queue_of, slot_ms
from horae.runtime.chance import mint
from horae.security.sealing import seal
from horae.service import jobs, search
from horae.service.changes import tell
from horae.service.context import Context
from horae.service.once import fingerprint
from horae.service.turns import runs_alone, take_turn
from horae.store import history, idempotency, instances, leases, tenants
from horae.store.history import Bounds, Past
from horae.store.idempotency import Request
from horae.store.tx import Tx

ROUTE = "jobs.trigger"


class Triggered(msgspec.Struct, frozen=True):
    """The instance a key stands for. `replayed`: an earlier request with this key made it."""

    instance_id: UUID
    replayed: bool = False


async def trigger(ctx: Context, name: str, key: str, *, payload: Any = None, even_if_down: bool = False) -> Triggered:
    """Fire a job now, once per idempotency key; the same key with the same payload answers the same again."""
    if not key or len(key) > 200:
        raise Invalid("a trigger needs an Idempotency-Key of 1 to 200 characters")
    job = await jobs.find(ctx, name)
    if job.status == Status.PAUSED or job.spread:
        kind = "a type of tasks" if job.keyed else "a rolling set" if job.rolling else "PAUSED"
        raise Conflict(f"job {name!r} is {kind} and cannot be triggered")
    request = Request(job.shard, ctx.tenant.id, ROUTE, name, key, fingerprint(payload))
    as_ordered = sha256(msgspec.json.encode(payload)).digest()
    if payload is not None:
        sealing = await ctx.store.sealing.key(ctx.tenant.id)
        payload = seal(sealing, payload_of(job.id, keys.manual(job.id, key)), payload)

    async def work(tx: Tx) -> Triggered:
        id_ = mint(job.shard, tx.now)
        if not await idempotency.reserve(tx, request, id_, {"instance_id": id_}):
            return await _replay(ctx, tx, request, as_ordered)
        if await tenants.holding(tx, ctx.tenant.id) is not None:
            raise Conflict(f"tenant {ctx.tenant.name!r} is paused as a whole; nothing was triggered")
        if not even_if_down and not await leases.held(tx, job.shard):
            raise DispatcherDown(f"no node owns the shard of job {name!r} now; nothing was triggered")
        target = job.definition.target
        made = _made(job, id_, key, payload, tx, await take_turn(tx, job))
        if not await instances.trigger(tx, made, slot_ms(target), queue_of(target), exclusive=runs_alone(job)):
            raise Duplicate("an instance under this Idempotency-Key, made longer ago than a day, is still in flight")
        await tell(ctx, tx, job, Event.INSTANCE_TRIGGERED, {"instance": public(Prefix.INSTANCE, id_), "key": key})
        return Triggered(id_)

    asked = ctx.store.cell(job.shard).clock.now()  # not later than it is due: a node looks from here on
    triggered = await ctx.store.run(job.shard, work)
    if not triggered.replayed:
        ctx.wakes.wake(job.shard, asked)
    return triggered


async def of_job(ctx: Context, name: str, *, limit: int = 50) -> list[Past]:
    """The latest instances of a job, live and ended, newest fire first; a type's come from every cell."""
    return (await search.of_job(ctx, await jobs.find(ctx, name), bounds=Bounds(limit))).found


async def _replay(ctx: Context, tx: Tx, request: Request, as_ordered: bytes) -> Triggered:
    """What the key stands for. `as_ordered`: the fingerprint that releases before this one wrote, good for a day."""
    first = await idempotency.find(tx, request)
    if first is None or first.instance_id is None:
        raise ShardClosed("the job's shard is moving; nothing was triggered")
    if first.fingerprint not in {request.fingerprint, as_ordered}:
        seen = public(Prefix.INSTANCE, first.instance_id)
        made = await history.find(tx, ctx.tenant.id, first.instance_id)
        raise Duplicate(
            f"this Idempotency-Key was used for another request, which made {seen}",
            instance_id=seen,
            state=None if made is None else made.state,
        )
    return Triggered(first.instance_id, replayed=True)


def _made(job: Job, id_: UUID, key: str, payload: Any, tx: Tx, state: State) -> Instance:
    return Instance(
        shard=job.shard,
        id=id_,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job_version=job.version,
        idem_key=keys.manual(job.id, key),
        fire_time=tx.now,
        due_at=tx.now,
        state=state,
        priority=job.definition.priority,
        payload=payload,
    )
