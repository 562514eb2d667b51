"""Instances: trigger a job by hand, and list the instances of a job."""

from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.errors import Conflict, DispatcherDown, Duplicate, Invalid, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.instances import idempotency_keys
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Job, Status
from horae.domain.targets.targets import queue_of, slot_ms
from horae.runtime.randomness import new_id
from horae.runtime.tracing import caller_trace, sampled_from
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.idempotency import fingerprint
from horae.service.instances import searches
from horae.service.instances.overlap import runs_alone, take_turn
from horae.service.jobs import jobs
from horae.service.jobs.changes import record_change
from horae.store import idempotency
from horae.store.idempotency import KeyScope
from horae.store.instances import history, instances
from horae.store.instances.history import Bounds, InstanceRecord
from horae.store.nodes import leases
from horae.store.tenants import tenants
from horae.store.tx import Tx

ROUTE = "jobs.trigger"


class TriggerResult(msgspec.Struct, frozen=True):
    """The instance of an idempotency key. `replayed`: an earlier request with this key created it."""

    instance_id: UUID
    replayed: bool = False


def check_triggerable(job: Job) -> None:
    """Refuse to trigger a job that is paused or whose instances have keys."""
    if job.status == Status.PAUSED or job.spread:
        kind = "a type of tasks" if job.keyed else "a rolling set" if job.rolling else "PAUSED"
        raise Conflict(f"job {job.name!r} is {kind} and cannot be triggered")


async def trigger(
    ctx: Context,
    name: str,
    key: str,
    *,
    payload: Any = None,
    even_if_down: bool = False,
    fire_time: datetime | None = None,
) -> TriggerResult:
    """Fire a job now, once per idempotency key. The same key with the same payload returns the same instance.

    `fire_time` is the fire time of the instance; without it, now.
    """
    if not key or len(key) > LONGEST_IDEMPOTENCY_KEY:
        raise Invalid(f"a trigger needs an Idempotency-Key of 1 to {LONGEST_IDEMPOTENCY_KEY} characters")
    job = await jobs.find(ctx, name)
    check_triggerable(job)
    request = KeyScope(job.shard, ctx.tenant.id, ROUTE, name, key, fingerprint(payload))
    as_ordered = sha256(msgspec.json.encode(payload)).digest()
    if payload is not None:
        data_key = await ctx.store.cipher.key(ctx.tenant.id)
        payload = encrypt_value(data_key, payload_of(job.id, idempotency_keys.manual_key(job.id, key)), payload)

    async def work(tx: Tx) -> TriggerResult:
        id_ = new_id(job.shard, tx.now, sampled_from())
        if not await idempotency.reserve(tx, request, id_, {"instance_id": id_}):
            return await _replay(ctx, tx, request, as_ordered)
        if await tenants.holding(tx, ctx.tenant.id) is not None:
            raise Conflict(f"tenant {ctx.tenant.name!r} is paused as a whole; nothing was triggered")
        if not even_if_down and not await leases.is_held(tx, job.shard):
            raise DispatcherDown(f"no node owns the shard of job {name!r} now; nothing was triggered")
        target = job.definition.target
        made = _new_instance(job, id_, key, payload, tx, await take_turn(tx, job))
        made = replace(made, fire_time=fire_time or tx.now)
        if not await instances.trigger(tx, made, slot_ms(target), queue_of(target), exclusive=runs_alone(job)):
            raise Duplicate("an instance under this Idempotency-Key, made longer ago than a day, is still in flight")
        await record_change(
            ctx, tx, job, Event.INSTANCE_TRIGGERED, {"instance": public(Prefix.INSTANCE, id_), "key": key}
        )
        return TriggerResult(id_)

    asked = ctx.now(job.shard)  # nodes scan from here on: not after its due time
    triggered = await ctx.store.run(job.shard, work)
    if not triggered.replayed:
        ctx.wakes.wake(job.shard, asked)
    return triggered


async def of_job(ctx: Context, name: str, *, limit: int = 50) -> list[InstanceRecord]:
    """Returns the latest instances of a job, live and ended, newest fire first; of a type from every cell."""
    return (await searches.of_job(ctx, await jobs.find(ctx, name), bounds=Bounds(limit))).found


async def _replay(ctx: Context, tx: Tx, request: KeyScope, as_ordered: bytes) -> TriggerResult:
    """Returns the instance of a used idempotency key.

    `as_ordered` is the fingerprint that earlier releases wrote; such rows are valid for a day.
    """
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
    return TriggerResult(first.instance_id, replayed=True)


def _new_instance(job: Job, id_: UUID, key: str, payload: Any, tx: Tx, state: State) -> Instance:
    return Instance(
        shard=job.shard,
        id=id_,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job_version=job.version,
        idem_key=idempotency_keys.manual_key(job.id, key),
        fire_time=tx.now,
        due_at=tx.now,
        state=state,
        priority=job.definition.priority,
        payload=payload,
        caller_trace=caller_trace(),
    )
