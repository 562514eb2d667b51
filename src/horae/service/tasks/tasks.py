"""Tasks: one idempotent operation sets the time of a business key, and returns what it decided (seed 000)."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.errors import Contended, Invalid, NotFound
from horae.domain.jobs.jobs import Job
from horae.domain.tasks import tasks as rules
from horae.domain.tasks.tasks import (
    Cancel,
    CreateDecision,
    Decision,
    Ignore,
    IgnoreReason,
    Intent,
    KeyState,
    MoveDecision,
    Replace,
)
from horae.runtime.randomness import new_id
from horae.runtime.tracing import caller_trace
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.encryption.encryption import encrypt_intent
from horae.service.identity.bound_keys import find_type
from horae.service.tasks.new_instances import new_task_row, type_of
from horae.service.tenants.places import retry_if_widened, shards_of_keys
from horae.store.tasks import batches, tasks
from horae.store.tasks.batches import EarlyCancelRow
from horae.store.tasks.tasks import TaskPlace, WrittenTask
from horae.store.tx import BAD_ROW, Tx

TRIES: Final = 50
"""How often an intent is decided again because the business key changed at the same time."""


class ScheduleAnswer(msgspec.Struct, frozen=True):
    """The decision about an intent. `revision` orders all decisions and outcomes of a business key."""

    decision: Decision
    revision: int
    instance_id: UUID | None = None
    at: datetime | None = None
    reason: IgnoreReason | None = None
    replaced_id: UUID | None = None


class TaskDetail(msgspec.Struct, frozen=True):
    """A business key for display: its live instance, its ledger and its last decisions."""

    known: KeyState
    decisions: list[dict[str, Any]]


async def schedule(
    ctx: Context,
    type_name: str,
    key: str,
    *,
    at: datetime | None = None,
    payload: Any = msgspec.UNSET,
    version: int | None = None,
) -> ScheduleAnswer:
    """Set the time of a business key; without `at`, now.

    It reads the key, decides and writes. If the row changed in between, it decides again.
    """
    rules.check_time(at)
    rules.check_payload(payload)
    return await retry_if_widened(ctx, lambda ctx: _schedule(ctx, type_name, key, at, payload, version))


async def _schedule(
    ctx: Context, type_name: str, key: str, at: datetime | None, payload: Any, version: int | None
) -> ScheduleAnswer:
    job, place = await _place(ctx, type_name, key)
    data_key = None if payload in (None, msgspec.UNSET) else await ctx.store.cipher.key(ctx.tenant.id)

    async def work(tx: Tx) -> ScheduleAnswer:
        intent = Intent(at.astimezone(UTC) if at else tx.now, payload, version)
        for _ in range(TRIES):
            known = await tasks.find(tx, place)
            change = rules.decide(known, intent, job.definition.after_success)
            answer = await _apply(ctx, tx, job, place, known, change, intent, data_key)
            if answer is not None:
                return answer
        raise Contended(f"{type_name}/{key} kept changing; nothing was decided, ask again")

    try:
        answer = await ctx.store.run_after_read(place.shard, work)
    except BAD_ROW as error:
        raise Invalid(f"the database refused it: {error}") from error
    ctx.wakes.wake(place.shard, answer.at)
    return answer


async def cancel(ctx: Context, type_name: str, key: str, *, version: int | None = None) -> ScheduleAnswer:
    """Cancel the task of a business key. A call in flight is not aborted; its answer is refused.

    With a version, the cancellation is recorded even without a live task: an older intent that arrives later is stale.
    """
    return await retry_if_widened(ctx, lambda ctx: _cancel(ctx, type_name, key, version))


async def _cancel(ctx: Context, type_name: str, key: str, version: int | None) -> ScheduleAnswer:
    job, place = await _place(ctx, type_name, key)

    async def work(tx: Tx) -> ScheduleAnswer:
        for _ in range(TRIES):
            known = await tasks.find(tx, place)
            change = rules.decide_cancel(known, version)
            if known.ledger is None:
                answer = await _record_cancel_before_create(ctx, tx, job, place, version)
            else:
                answer = await _apply_cancel(ctx, tx, place, known, change, version)
            if answer is not None:
                return answer
        raise Contended(f"{type_name}/{key} kept changing; nothing was decided, ask again")

    return await ctx.store.run_after_read(place.shard, work)


async def show(ctx: Context, type_name: str, key: str) -> TaskDetail:
    """Returns the state of a business key."""
    return await retry_if_widened(ctx, lambda ctx: _show(ctx, type_name, key))


async def _show(ctx: Context, type_name: str, key: str) -> TaskDetail:
    _job, place = await _place(ctx, type_name, key)
    async with ctx.store.statement(place.shard) as tx:
        known = await tasks.find(tx, place)
        if known.ledger is None:
            raise NotFound(f"{type_name}/{key} has never been scheduled")
        decisions = await tasks.decisions(tx, place)
    return TaskDetail(await _decrypt(ctx, known), decisions)


async def _decrypt(ctx: Context, known: KeyState) -> KeyState:
    live = known.live
    if live is None:
        return known
    payload = await ctx.store.cipher.decrypt(ctx.tenant.id, payload_of(live.job_id, live.idem_key), live.payload)
    return known if payload is live.payload else replace(known, live=replace(live, payload=payload))


async def _place(ctx: Context, type_name: str, key: str) -> tuple[Job, TaskPlace]:
    job = await find_type(ctx, type_name)
    return job, await place_of(ctx, job, key)


async def place_of(ctx: Context, job: Job, key: str) -> TaskPlace:
    """Returns the place of a business key. A once or delay job has a single key, whatever name the caller gives."""
    rules.check_key(key)
    if job.single:
        return TaskPlace(job.shard, job.tenant_id, job.id, rules.OWN_KEY)
    return TaskPlace((await shards_of_keys(ctx, job, [key]))[key], job.tenant_id, job.id, key)


async def _apply(
    ctx: Context,
    tx: Tx,
    job: Job,
    place: TaskPlace,
    known: KeyState,
    change: rules.Change,
    intent: Intent,
    key: DataKey | None,
) -> ScheduleAnswer | None:
    """Write a decision. Returns None where the row changed since it was read."""
    written: WrittenTask | None
    trace = caller_trace()
    match change:
        case CreateDecision(after=after):
            note = tasks.note_of(Decision.CREATED, change, ctx.actor, tx.now)
            new_row = new_task_row(job, place, after + 1, tx.now)
            intent = encrypt_intent(key, job.id, new_row.idem_key, intent)
            written = await tasks.create(tx, place, change, intent, new_row, note, len(ctx.tenant.former), trace)
            return _answer(Decision.CREATED, written, change.at)
        case MoveDecision(found=found):
            intent = encrypt_intent(key, job.id, found.idem_key, intent)
            note = tasks.note_of(Decision.MOVED, change, ctx.actor, tx.now)
            return _answer(Decision.MOVED, await tasks.move(tx, place, change, intent, note, trace), change.at)
        case Replace(found=found):
            assert found.generation is not None
            note = tasks.note_of(Decision.REPLACED, change, ctx.actor, tx.now)
            new_row = new_task_row(job, place, found.generation, tx.now)
            intent = encrypt_intent(key, job.id, found.idem_key, intent)
            written = await tasks.replace(tx, place, change, intent, new_row, note, trace)
            return _answer(Decision.REPLACED, written, change.at, replaced=found.id)
        case Ignore():
            return await _ignore(ctx, tx, place, known, change)


async def _apply_cancel(
    ctx: Context, tx: Tx, place: TaskPlace, known: KeyState, change: Cancel | Ignore, version: int | None
) -> ScheduleAnswer | None:
    if isinstance(change, Ignore):
        return await _ignore(ctx, tx, place, known, change, version)
    note = tasks.note_of(Decision.CANCELLED, change, ctx.actor, tx.now)
    return _answer(Decision.CANCELLED, await tasks.cancel(tx, place, change, version, note), None)


async def _record_cancel_before_create(
    ctx: Context, tx: Tx, job: Job, place: TaskPlace, version: int | None
) -> ScheduleAnswer | None:
    """Record a cancellation of a business key that was never used, so that an older intent is stale."""
    if version is None:
        raise NotFound(f"{job.name}/{place.key} has never been scheduled")
    change = Ignore(IgnoreReason.NOT_LIVE)
    note = tasks.note_of(Decision.IGNORED, change, ctx.actor, tx.now)
    plan = EarlyCancelRow(place.shard, place.key, new_id(place.shard, tx.now), version)
    written = await batches.record_cancel_before_create(tx, type_of(job), [plan], note, len(ctx.tenant.former))
    return None if not written else ScheduleAnswer(Decision.IGNORED, written[place.key].revision, reason=change.reason)


async def _ignore(
    ctx: Context, tx: Tx, place: TaskPlace, known: KeyState, change: Ignore, version: int | None = None
) -> ScheduleAnswer | None:
    note = tasks.note_of(Decision.IGNORED, change, ctx.actor, tx.now)
    written = await tasks.ignore(tx, place, known, note, version)
    return None if written is None else ScheduleAnswer(Decision.IGNORED, written.revision, reason=change.reason)


def _answer(
    decision: Decision, written: WrittenTask | None, at: datetime | None, replaced: UUID | None = None
) -> ScheduleAnswer | None:
    if written is None:
        return None
    return ScheduleAnswer(decision, written.revision, written.instance_id, at, replaced_id=replaced)
