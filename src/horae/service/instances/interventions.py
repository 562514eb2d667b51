"""Interventions of people in a single instance: cancel it, or retry it now. Each is audited."""

from uuid import UUID

from horae.domain.errors import Conflict, Contended, NotFound
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.lifecycle import LIVE, State
from horae.domain.jobs.jobs import Job
from horae.domain.tasks.tasks import Cancel
from horae.domain.tasks.tasks import Decision as Decisions
from horae.service.audit import audit
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_record
from horae.service.instances import replays, searches, tiers
from horae.service.limits import retry_budgets
from horae.store.instances import dead_letters, history, instances
from horae.store.instances.history import InstanceRecord
from horae.store.jobs import jobs
from horae.store.tasks import tasks
from horae.store.tasks.tasks import TaskPlace
from horae.store.tx import Tx


async def cancel(ctx: Context, id_: UUID) -> InstanceRecord:
    """End a live instance. A call in flight is not aborted; its late answer is refused."""

    async def work(tx: Tx) -> InstanceRecord:
        found = await _live(ctx, tx, id_)
        job = (await jobs.current(tx, ctx.tenant.id, {found.job_id})).get(found.job_id)
        task = found.business_key is not None and not (job is not None and job.rolling)
        done = await (_cancel_task(ctx, tx, found) if task else _cancel(ctx, tx, found, job))
        if not done:
            raise Contended(f"{public(Prefix.INSTANCE, id_)} changed while it was being cancelled; ask again")
        await record(ctx, tx, "instance.cancelled", id_, {"state": found.state, "key": found.business_key})
        ended = await history.find(tx, ctx.tenant.id, id_)
        assert ended is not None, "it has just been written"
        return await decrypt_record(ctx, ended)

    await tiers.check_bound(ctx, id_)
    asked = ctx.now(shard_in(id_))
    try:
        ended = await ctx.store.run(shard_in(id_), work)
    except NotFound:
        raise _has_ended((await tiers.find(ctx, id_)).found) from None
    ctx.wakes.wake(shard_in(id_), asked)  # an instance that waited for this one may run
    return ended


async def retry(ctx: Context, id_: UUID) -> UUID:
    """Retry an instance now: a failed one becomes due, a dead one is replayed. Returns the instance to watch."""
    found, _ = await tiers.find(ctx, id_)
    if found.state == State.DEAD:
        return await replays.replay(ctx, await _dead_letter_of(ctx, found))
    if found.state != State.FAIL:
        raise Conflict(f"{public(Prefix.INSTANCE, id_)} is {found.state}; only one that failed can be tried again")
    await retry_budgets.spend(ctx)
    if not await retry_now(ctx, [id_]):
        raise Contended(f"{public(Prefix.INSTANCE, id_)} is being tried already")
    return id_


async def retry_now(ctx: Context, ids: list[UUID]) -> list[UUID]:
    """Make instances of one cell that wait for their retry due now. Returns the ids of the instances that changed.

    The caller has already taken them from the retry budget.
    """
    if not ids:
        return []

    async def work(tx: Tx) -> list[UUID]:
        done = await instances.retry_now(tx, ctx.tenant.id, ids)
        for id_ in done:
            await record(ctx, tx, "instance.retried", id_, {})
        return done

    cell = ctx.store.cell(shard_in(ids[0]))
    asked = cell.clock.now()  # nodes scan from here on: not after their due time
    done = await cell.run(work)
    for id_ in done:
        ctx.wakes.wake(shard_in(id_), asked)
    return done


async def record(ctx: Context, tx: Tx, action: str, id_: UUID, detail: object) -> None:
    """Write the audit row of a person's decision about an instance, after a statement that carries the fence."""
    await audit.record(ctx, tx, action, shard_in(id_), public(Prefix.INSTANCE, id_), detail)


async def _live(ctx: Context, tx: Tx, id_: UUID) -> InstanceRecord:
    found = await history.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise await searches.why_not_found(ctx, tx, id_)
    if found.state not in LIVE:
        raise _has_ended(found)
    return found


def _has_ended(found: InstanceRecord) -> Conflict:
    return Conflict(f"{public(Prefix.INSTANCE, found.id)} is {found.state}; it has ended already", state=found.state)


async def _cancel(ctx: Context, tx: Tx, found: InstanceRecord, job: Job | None) -> bool:
    done = await instances.cancel(tx, ctx.tenant.id, found)
    if done and job is not None and job.exclusive:
        waiting = await instances.blocked(tx, [(job.shard, job.id)])
        if waiting:
            await instances.release(tx, waiting)
    return done


async def _cancel_task(ctx: Context, tx: Tx, found: InstanceRecord) -> bool:
    """Cancel a task by the statement of its type, so that the ledger of its business key records it."""
    assert found.business_key is not None
    place = TaskPlace(shard_in(found.id), ctx.tenant.id, found.job_id, found.business_key)
    known = await tasks.find(tx, place)
    if known.live is None or known.live.id != found.id:
        return False
    change = Cancel(known.live)
    note = tasks.note_of(Decisions.CANCELLED, change, ctx.actor, tx.now)
    return await tasks.cancel(tx, place, change, None, note) is not None


async def _dead_letter_of(ctx: Context, found: InstanceRecord) -> UUID:
    """Returns the dead letter of a dead instance: its own, or the one that it replayed."""
    async with ctx.store.statement(shard_in(found.id)) as tx:
        dead_letter = await dead_letters.of_replay(tx, ctx.tenant.id, found.job_id, found.id)
    return found.id if dead_letter is None else dead_letter
