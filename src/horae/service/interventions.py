"""What people do to a single instance: cancel it, or have it tried again now. Their decisions, hence audited."""

from uuid import UUID

from horae.domain.errors import Conflict, Contended, NotFound
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.jobs import Job
from horae.domain.lifecycle import LIVE, State
from horae.domain.tasks import Cancel
from horae.domain.tasks import Decision as Decisions
from horae.runtime.chance import mint
from horae.service import budgets, replays, search
from horae.service.context import Context
from horae.service.sealing import shown_past
from horae.store import audit, dead_letters, history, instances, jobs, tasks
from horae.store.history import Past
from horae.store.tasks import Place
from horae.store.tx import Tx


async def cancel(ctx: Context, id_: UUID) -> Past:
    """End a live instance. A call in flight is not aborted, its late answer is refused."""

    async def work(tx: Tx) -> Past:
        found = await _live(ctx, tx, id_)
        job = (await jobs.current(tx, ctx.tenant.id, {found.job_id})).get(found.job_id)
        task = found.business_key is not None and not (job is not None and job.rolling)
        done = await (_cancel_task(ctx, tx, found) if task else _cancel(ctx, tx, found, job))
        if not done:
            raise Contended(f"{public(Prefix.INSTANCE, id_)} changed while it was being cancelled; ask again")
        await record(ctx, tx, "instance.cancelled", id_, {"state": found.state, "key": found.business_key})
        ended = await history.find(tx, ctx.tenant.id, id_)
        assert ended is not None, "it has just been written"
        return await shown_past(ctx, ended)

    asked = ctx.store.cell(shard_in(id_)).clock.now()
    ended = await ctx.store.run(shard_in(id_), work)
    ctx.wakes.wake(shard_in(id_), asked)  # what waited behind it
    return ended


async def retry(ctx: Context, id_: UUID) -> UUID:
    """Try again now: what waits for its retry is due at once, what is dead is replayed; returns what to watch."""
    found = await search.find(ctx, id_)
    if found.state == State.DEAD:
        return await replays.replay(ctx, await _letter_of(ctx, found))
    if found.state != State.FAIL:
        raise Conflict(f"{public(Prefix.INSTANCE, id_)} is {found.state}; only one that failed can be tried again")
    await budgets.spend(ctx)
    if not await hasten(ctx, [id_]):
        raise Contended(f"{public(Prefix.INSTANCE, id_)} is being tried already")
    return id_


async def hasten(ctx: Context, ids: list[UUID]) -> list[UUID]:
    """Instances of one cell that wait for their retry are due now; returns those that did. The budget was asked."""
    if not ids:
        return []

    async def work(tx: Tx) -> list[UUID]:
        done = await instances.hasten(tx, ctx.tenant.id, ids)
        for id_ in done:
            await record(ctx, tx, "instance.retried", id_, {})
        return done

    cell = ctx.store.cell(shard_in(ids[0]))
    asked = cell.clock.now()  # not later than they are due: a node looks from here on
    done = await cell.run(work)
    for id_ in done:
        ctx.wakes.wake(shard_in(id_), asked)
    return done


async def record(ctx: Context, tx: Tx, action: str, id_: UUID, detail: object) -> None:
    """The audit row of a person's decision about an instance; its own statement has passed the fence."""
    shard, resource = shard_in(id_), public(Prefix.INSTANCE, id_)
    own = mint(shard, tx.now)
    await audit.append(tx, shard, own, ctx.tenant.id, actor=ctx.actor, action=action, resource=resource, detail=detail)


async def _live(ctx: Context, tx: Tx, id_: UUID) -> Past:
    found = await history.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no instance {public(Prefix.INSTANCE, id_)}")
    if found.state not in LIVE:
        raise Conflict(f"{public(Prefix.INSTANCE, id_)} is {found.state}; it has ended already", state=found.state)
    return found


async def _cancel(ctx: Context, tx: Tx, found: Past, job: Job | None) -> bool:
    done = await instances.cancel(tx, ctx.tenant.id, found)
    if done and job is not None and job.exclusive:
        waiting = await instances.blocked(tx, [(job.shard, job.id)])
        if waiting:
            await instances.release(tx, waiting)
    return done


async def _cancel_task(ctx: Context, tx: Tx, found: Past) -> bool:
    """As its type's own verb does it, so that the key's ledger knows."""
    assert found.business_key is not None
    place = Place(shard_in(found.id), ctx.tenant.id, found.job_id, found.business_key)
    known = await tasks.find(tx, place)
    if known.live is None or known.live.id != found.id:
        return False
    change = Cancel(known.live)
    note = tasks.note_of(Decisions.CANCELLED, change, ctx.actor, tx.now)
    return await tasks.cancel(tx, place, change, None, note) is not None


async def _letter_of(ctx: Context, found: Past) -> UUID:
    """The letter that a dead instance answers to: its own, or the one it was a replay of."""
    async with ctx.store.statement(shard_in(found.id)) as tx:
        letter = await dead_letters.of_replay(tx, ctx.tenant.id, found.job_id, found.id)
    return found.id if letter is None else letter
