"""Tasks: one idempotent verb sets the time of a business key, and says what it decided (seed 000)."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain import tasks as rules
from horae.domain.errors import Contended, Invalid, NotFound
from horae.domain.jobs import Job
from horae.domain.sealed import payload_of
from horae.domain.tasks import Cancel, Create, Decision, Ignore, IgnoreReason, Intent, Known, Move, Replace
from horae.runtime.chance import mint
from horae.security.envelopes import DataKey
from horae.service.births import birth_of, type_of
from horae.service.context import Context
from horae.service.places import insisting, shards_of_keys
from horae.service.sealing import sealed_intent
from horae.store import task_batches, tasks
from horae.store.task_batches import Forestalling
from horae.store.tasks import Place, Written
from horae.store.tx import BAD_ROW, Tx

TRIES: Final = 50


class Answer(msgspec.Struct, frozen=True):
    """What was decided about an intent. `revision` orders all decisions and outcomes of a key."""

    decision: Decision
    revision: int
    instance_id: UUID | None = None
    at: datetime | None = None
    reason: IgnoreReason | None = None
    replaced_id: UUID | None = None


class Shown(msgspec.Struct, frozen=True):
    """A key as people look at it: what lives, what is remembered, and the last decisions."""

    known: Known
    decisions: list[dict[str, Any]]


async def schedule(
    ctx: Context,
    type_name: str,
    key: str,
    *,
    at: datetime | None = None,
    payload: Any = msgspec.UNSET,
    version: int | None = None,
) -> Answer:
    """Set the time of a key: now where `at` is omitted. Read, decide, write; when the row moved, decide again."""
    rules.check_time(at)
    rules.check_payload(payload)
    return await insisting(ctx, lambda ctx: _schedule(ctx, type_name, key, at, payload, version))


async def _schedule(
    ctx: Context, type_name: str, key: str, at: datetime | None, payload: Any, version: int | None
) -> Answer:
    job, place = await _place(ctx, type_name, key)
    sealing = None if payload in (None, msgspec.UNSET) else await ctx.store.sealing.key(ctx.tenant.id)

    async def work(tx: Tx) -> Answer:
        intent = Intent(at.astimezone(UTC) if at else tx.now, payload, version)
        for _ in range(TRIES):
            known = await tasks.find(tx, place)
            change = rules.decide(known, intent, job.definition.after_success)
            answer = await _apply(ctx, tx, job, place, known, change, intent, sealing)
            if answer is not None:
                return answer
        raise Contended(f"{type_name}/{key} kept changing; nothing was decided, ask again")

    try:
        answer = await ctx.store.run_after_read(place.shard, work)
    except BAD_ROW as error:
        raise Invalid(f"the database refused it: {error}") from error
    ctx.wakes.wake(place.shard, answer.at)
    return answer


async def cancel(ctx: Context, type_name: str, key: str, *, version: int | None = None) -> Answer:
    """The key's task is no longer wanted. A call in flight is not aborted, its answer is refused.

    With a version it is remembered even where nothing lives: whatever was meant before it comes too late.
    """
    return await insisting(ctx, lambda ctx: _cancel(ctx, type_name, key, version))


async def _cancel(ctx: Context, type_name: str, key: str, version: int | None) -> Answer:
    job, place = await _place(ctx, type_name, key)

    async def work(tx: Tx) -> Answer:
        for _ in range(TRIES):
            known = await tasks.find(tx, place)
            change = rules.decide_cancel(known, version)
            if known.ledger is None:
                answer = await _forestall(ctx, tx, job, place, version)
            else:
                answer = await _apply_cancel(ctx, tx, place, known, change, version)
            if answer is not None:
                return answer
        raise Contended(f"{type_name}/{key} kept changing; nothing was decided, ask again")

    return await ctx.store.run_after_read(place.shard, work)


async def show(ctx: Context, type_name: str, key: str) -> Shown:
    """What is known about a key."""
    return await insisting(ctx, lambda ctx: _show(ctx, type_name, key))


async def _show(ctx: Context, type_name: str, key: str) -> Shown:
    _job, place = await _place(ctx, type_name, key)
    async with ctx.store.statement(place.shard) as tx:
        known = await tasks.find(tx, place)
        if known.ledger is None:
            raise NotFound(f"{type_name}/{key} has never been scheduled")
        decisions = await tasks.decisions(tx, place)
    return Shown(await _opened(ctx, known), decisions)


async def _opened(ctx: Context, known: Known) -> Known:
    live = known.live
    if live is None:
        return known
    payload = await ctx.store.sealing.open(ctx.tenant.id, payload_of(live.job_id, live.idem_key), live.payload)
    return known if payload is live.payload else replace(known, live=replace(live, payload=payload))


async def _place(ctx: Context, type_name: str, key: str) -> tuple[Job, Place]:
    job = await ctx.types.find(ctx.tenant, type_name)
    return job, await place_of(ctx, job, key)


async def place_of(ctx: Context, job: Job, key: str) -> Place:
    """Where a key of a type lives. A once or delay job is its own key, whatever it is called."""
    rules.check_key(key)
    if job.single:
        return Place(job.shard, job.tenant_id, job.id, rules.OWN_KEY)
    return Place((await shards_of_keys(ctx, job, [key]))[key], job.tenant_id, job.id, key)


async def _apply(
    ctx: Context,
    tx: Tx,
    job: Job,
    place: Place,
    known: Known,
    change: rules.Change,
    intent: Intent,
    key: DataKey | None,
) -> Answer | None:
    written: Written | None
    match change:
        case Create(after=after):
            note = tasks.note_of(Decision.CREATED, change, ctx.actor, tx.now)
            birth = birth_of(job, place, after + 1, tx.now)
            intent = sealed_intent(key, job.id, birth.idem_key, intent)
            written = await tasks.create(tx, place, change, intent, birth, note, len(ctx.tenant.former))
            return _answer(Decision.CREATED, written, change.at)
        case Move(found=found):
            intent = sealed_intent(key, job.id, found.idem_key, intent)
            note = tasks.note_of(Decision.MOVED, change, ctx.actor, tx.now)
            return _answer(Decision.MOVED, await tasks.move(tx, place, change, intent, note), change.at)
        case Replace(found=found):
            assert found.generation is not None
            note = tasks.note_of(Decision.REPLACED, change, ctx.actor, tx.now)
            birth = birth_of(job, place, found.generation, tx.now)
            intent = sealed_intent(key, job.id, found.idem_key, intent)
            written = await tasks.replace(tx, place, change, intent, birth, note)
            return _answer(Decision.REPLACED, written, change.at, replaced=found.id)
        case Ignore():
            return await _ignore(ctx, tx, place, known, change)


async def _apply_cancel(
    ctx: Context, tx: Tx, place: Place, known: Known, change: Cancel | Ignore, version: int | None
) -> Answer | None:
    if isinstance(change, Ignore):
        return await _ignore(ctx, tx, place, known, change, version)
    note = tasks.note_of(Decision.CANCELLED, change, ctx.actor, tx.now)
    return _answer(Decision.CANCELLED, await tasks.cancel(tx, place, change, version, note), None)


async def _forestall(ctx: Context, tx: Tx, job: Job, place: Place, version: int | None) -> Answer | None:
    if version is None:
        raise NotFound(f"{job.name}/{place.key} has never been scheduled")
    change = Ignore(IgnoreReason.NOT_LIVE)
    note = tasks.note_of(Decision.IGNORED, change, ctx.actor, tx.now)
    plan = Forestalling(place.shard, place.key, mint(place.shard, tx.now), version)
    written = await task_batches.forestall(tx, type_of(job), [plan], note, len(ctx.tenant.former))
    return None if not written else Answer(Decision.IGNORED, written[place.key].revision, reason=change.reason)


async def _ignore(
    ctx: Context, tx: Tx, place: Place, known: Known, change: Ignore, version: int | None = None
) -> Answer | None:
    note = tasks.note_of(Decision.IGNORED, change, ctx.actor, tx.now)
    written = await tasks.ignore(tx, place, known, note, version)
    return None if written is None else Answer(Decision.IGNORED, written.revision, reason=change.reason)


def _answer(
    decision: Decision, written: Written | None, at: datetime | None, replaced: UUID | None = None
) -> Answer | None:
    if written is None:
        return None
    return Answer(decision, written.revision, written.instance_id, at, replaced_id=replaced)
