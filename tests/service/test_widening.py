"""A tenant that is widened while others work for it, some of whom have not heard of it."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.errors import Conflict, Contended, HoraeError, Invalid, NameTaken, NotFound
from horae.domain.placement import Layout, home_of
from horae.domain.schedules.calendars import Calendar
from horae.domain.schedules.triggers import ManualTrigger, RollingTrigger
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.rolling import subjects
from horae.service.schedules import calendars
from horae.service.tasks import idempotent, tasks
from horae.service.tasks.batches import TaskIntent, cancel_many, schedule_many
from horae.service.tenants import places, tenants
from horae.store.store import Store
from horae.store.tenants import tenants as rows
from horae.store.tenants import widenings
from tests.steps import a_job, a_type, query, until

KEYS = [f"key-{number}" for number in range(60)]
LATER = timedelta(hours=1)


@pytest.fixture
async def narrow(store) -> Context:
    """A tenant as an earlier release made it."""
    shard = home_of("old")
    tenant = Tenant(new_id(shard, store.cell(shard).clock.now()), "old", 16, layout=Layout.NEIGHBOURS)
    async with store.tx(shard) as tx:
        assert await rows.create(tx, tenant)
        await rows.publish(tx, tenant.id)
    return Context.of(store, tenant, "test")


async def widen(ctx: Context, width: int = 256) -> Context:
    """The caller as a process that has heard of it."""
    return Context.of(ctx.store, await tenants.widen(ctx, ctx.tenant.name, width), "wide")


def ignorant(ctx: Context) -> Context:
    """The same caller in another process, with its own memory of types."""
    return Context.of(ctx.store, ctx.tenant, "ignorant")


async def ledgers(store: Store) -> dict[str, list[int]]:
    """In which shards each key was ever used."""
    found: dict[str, list[int]] = {}
    for row in await query(store, "select business_key, shard_id from task_key"):
        found.setdefault(row["business_key"], []).append(row["shard_id"])
    return found


async def shards_of_jobs(store: Store) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in await query(store, "select name, shard_id from job where status <> 'REMOVED'"):
        found.setdefault(row["name"], []).append(row["shard_id"])
    return found


def at(ctx: Context):
    return ctx.store.cells[0].clock.now() + LATER


async def test_what_was_made_before_stays_and_what_is_made_then_lies_in_the_new_shards(narrow, store):
    await a_type(narrow, "T")
    await schedule_many(narrow, "T", [TaskIntent(key, at(narrow)) for key in KEYS[:30]])
    before = await ledgers(store)
    wide = await widen(narrow)
    assert wide.tenant.placements == ((Layout.SPREAD, 256), (Layout.NEIGHBOURS, 16))
    answers = await schedule_many(wide, "T", [TaskIntent(key, at(wide)) for key in KEYS])
    assert [answer.decision for answer in answers] == ["moved"] * 30 + ["created"] * 30
    after = await ledgers(store)
    assert {key: after[key] for key in before} == before
    assert all(after[key] == [wide.tenant.shard(f"T/{key}")] for key in KEYS[30:])
    assert (await tasks.schedule(wide, "T", "key-3", at=at(wide))).decision == "moved"
    assert (await tasks.show(wide, "T", "key-3")).known.live is not None
    assert (await tasks.cancel(wide, "T", "key-3")).decision == "cancelled"
    assert (await tasks.schedule(wide, "T", "key-3", at=at(wide))).decision == "created"
    assert await ledgers(store) == after
    assert {answer.decision for answer in await cancel_many(wide, "T", [TaskIntent(key) for key in KEYS])} == {
        "cancelled"
    }


async def test_jobs_of_before_are_found_changed_and_removed_by_name(narrow, store):
    for number in range(20):
        await a_job(narrow, f"job-{number}")
    before = await shards_of_jobs(store)
    wide = await widen(narrow)
    for number in range(20):
        with pytest.raises(NameTaken):
            await a_job(wide, f"job-{number}")
        await jobs.pause(wide, f"job-{number}")
        assert (await jobs.resume(wide, f"job-{number}")).shard == before[f"job-{number}"][0]
    assert await shards_of_jobs(store) == before
    for number in range(20):
        await jobs.remove(wide, f"job-{number}")
        assert (await a_job(wide, f"job-{number}")).shard == wide.tenant.shard(f"job-{number}")
    assert {job.name for job in await jobs.listing(wide)} == set(before)


async def test_who_has_not_heard_of_it_uses_what_others_made_and_makes_nothing_in_the_old_shards(narrow, store):
    await a_type(narrow, "T")
    stale = ignorant(narrow)
    wide = await widen(narrow)
    await schedule_many(wide, "T", [TaskIntent(key, at(wide)) for key in KEYS[:20]])
    assert (await tasks.schedule(stale, "T", "key-0", at=at(stale))).decision == "moved"
    assert (await tasks.cancel(stale, "T", "key-1")).decision == "cancelled"
    assert (await tasks.cancel(stale, "T", "never", version=7)).decision == "ignored"
    assert (await tasks.show(stale, "T", "key-2")).known.live is not None
    answers = await schedule_many(stale, "T", [TaskIntent(key, at(stale)) for key in KEYS[2:40]])
    assert [answer.decision for answer in answers] == ["moved"] * 18 + ["created"] * 20
    assert (await a_job(stale, "new")).shard == wide.tenant.shard("new")
    found = await ledgers(store)
    assert found == {key: [wide.tenant.shard(f"T/{key}")] for key in (*KEYS[:40], "never")}


async def test_one_of_those_who_race_for_a_key_makes_it(narrow, store):
    """Half of them know of the widening, which happens meanwhile."""
    await a_type(narrow, "T")
    others = [ignorant(narrow) for _ in range(3)]

    async def all_keys(ctx):
        return [await tasks.schedule(ctx, "T", key, at=at(ctx)) for key in KEYS]

    async def widened():
        wide = await widen(narrow)
        return await asyncio.gather(
            all_keys(wide), schedule_many(wide, "T", [TaskIntent(key, at(wide)) for key in KEYS])
        )

    answers = await asyncio.gather(*map(all_keys, others), widened())
    found = await ledgers(store)
    assert set(found) == set(KEYS)
    assert {len(shards) for shards in found.values()} == {1}
    told = [*answers[:3], *answers[3]]
    assert all(sum(one[number].decision == "created" for one in told) == 1 for number in range(len(KEYS)))


async def test_one_of_those_who_race_for_a_name_makes_it(narrow, store):
    async def all_names(ctx):
        made = 0
        for number in range(30):
            try:
                await a_job(ctx, f"job-{number}", ManualTrigger())
                made += 1
            except NameTaken:
                pass
        return made

    async def widened():
        return await all_names(await widen(narrow))

    made = await asyncio.gather(all_names(ignorant(narrow)), all_names(ignorant(narrow)), widened())
    assert sum(made) == 30
    assert {len(shards) for shards in (await shards_of_jobs(store)).values()} == {1}


async def test_a_widening_waits_for_who_is_in_the_middle_of_making_a_key(narrow, store):
    job = await a_type(narrow, "T")
    place = await tasks.place_of(narrow, job, "key")
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def slowly():
        async def verb(ctx):
            return await tasks.schedule(ctx, "T", "key", at=at(ctx))

        async with store.cell(place.shard).tx() as tx:
            held = narrow._replace(store=OneTransaction(store, tx))
            answer = await verb(held)
            begun.set()
            await goes_on.wait()
        return answer

    making = asyncio.create_task(slowly())
    await begun.wait()
    widening = asyncio.create_task(widen(narrow))
    await until(lambda: was_widened(store))
    assert not widening.done(), "a cell where someone is making a key has not heard of it yet"
    goes_on.set()
    assert (await making).decision == "created"
    wide = await widening
    assert (await tasks.schedule(wide, "T", "key", at=at(wide))).decision == "moved"
    assert await ledgers(store) == {"key": [place.shard]}


class OneTransaction:
    """A store whose every statement is one of a transaction that the test ends."""

    def __init__(self, store, tx):
        self._store, self._tx = store, tx

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def run_after_read(self, _shard, work):
        return await work(self._tx)


async def was_widened(store):
    return bool(await query(store, "select from tenant where layout = 'SPREAD' and former <> '[]'"))


async def test_a_dump_keeps_nobody_from_hearing_of_a_widening(narrow, store):
    """It reads every table for as long as it runs; who makes keys meanwhile waits for nothing."""
    await a_type(narrow, "T")
    stale = ignorant(narrow)
    async with AsyncExitStack() as dumps:
        for cell in store.cells:
            dump = await asyncpg.connect(cell.dsn)
            dumps.push_async_callback(dump.close)
            await dump.execute("begin isolation level repeatable read; select from widening")
        wide = await widen(narrow)
        assert len(await query(store, "select from widening where number = 1")) == 2
        assert (await tasks.schedule(wide, "T", "new", at=at(wide))).decision == "created"
        assert (await tasks.schedule(stale, "T", "new", at=at(stale))).decision == "moved"


async def test_a_cell_that_cannot_hear_of_it_now_is_told_by_one_at_a_time(narrow, store, monkeypatch):
    """Someone makes a key there and does not end; connections of the cell are left for all others."""
    await a_type(narrow, "T")
    wide = await unheard(narrow, monkeypatch)
    monkeypatch.setattr(places, "TRIES", 2)
    monkeypatch.setattr(places, "CONTENDED_FOR_S", 600.0)
    tried, right = [], widenings.lock

    async def counted(tx):
        tried.append(len(tried))
        await right(tx)

    monkeypatch.setattr(widenings, "lock", counted)
    async with AsyncExitStack() as makers:
        for cell in store.cells:
            maker = await asyncpg.connect(cell.dsn)
            makers.push_async_callback(maker.close)
            await maker.execute("begin; lock table widening in row share mode")
        asked = (tasks.schedule(wide, "T", key, at=at(wide)) for key in KEYS)
        assert {type(one) for one in await asyncio.gather(*asked, return_exceptions=True)} == {Contended}
        assert len(tried) <= 2 * 2, "the others were told by the first"
    wide.memory.contended.clear()
    assert (await tasks.schedule(wide, "T", "key-0", at=at(wide))).decision == "created"


async def unheard(ctx: Context, monkeypatch) -> Context:
    """Widened while no cell could be told."""

    async def down(_cell, _tenant):
        raise ConnectionRefusedError

    with monkeypatch.context() as patched:
        patched.setattr(places, "raise_in", down)
        return await widen(ctx)


async def test_a_cell_that_was_down_hears_of_it_from_who_makes_a_key_there(narrow, store, monkeypatch):
    await a_type(narrow, "T")
    stale = ignorant(narrow)
    wide = await unheard(narrow, monkeypatch)
    assert not await query(store, "select from widening")
    assert (await tasks.schedule(stale, "T", "early", at=at(stale))).decision == "created"
    assert (await tasks.schedule(wide, "T", "early", at=at(wide))).decision == "moved"
    assert (await tasks.schedule(wide, "T", "late", at=at(wide))).decision == "created"
    assert await query(store, "select from widening where number = 1")
    assert (await tasks.schedule(stale, "T", "late", at=at(stale))).decision == "moved"
    assert {key: len(shards) for key, shards in (await ledgers(store)).items()} == {"early": 1, "late": 1}


async def test_a_tenant_is_widened_again_and_again_and_all_it_ever_made_is_found(store):
    ctx = Context.of(store, await tenants.create(PlatformContext(store, "test"), "acme", width=4), "test")
    await a_type(ctx, "T")
    for number, width in enumerate((4, 16, 64, 256, 4096)):
        if number:
            ctx = await widen(ctx, width)
        await tasks.schedule(ctx, "T", f"of-{width}", at=at(ctx))
        await a_job(ctx, f"job-of-{width}")
    for width in (4, 16, 64, 256, 4096):
        assert (await tasks.schedule(ctx, "T", f"of-{width}", at=at(ctx))).decision == "moved"
        assert (await jobs.find(ctx, f"job-of-{width}")).name == f"job-of-{width}"
    assert len(await jobs.listing(ctx)) == 6
    assert (await tenants.find(store, "acme")) == ctx.tenant


async def test_rolling_sets_calendars_and_types_of_a_width_of_their_own_keep_their_shards(narrow, store):
    own = await a_type(narrow, "OWN", width=4)
    rolling = await a_job(narrow, "SET", RollingTrigger(every=60, window=600, anchor=at(narrow)))
    await subjects.add(narrow, rolling, KEYS)
    today = at(narrow).date()
    await calendars.put(narrow, Calendar(name="c", first=today, last=today))
    wide = await widen(narrow)
    assert (await subjects.add(wide, rolling, KEYS)).changed == 0
    assert len(await subjects.page(wide, rolling, "", 100)) == len(KEYS)
    assert await places.shards_of_keys(wide, own, KEYS) == await places.shards_of_keys(narrow, own, KEYS)
    await calendars.put(wide, Calendar(name="c", first=today, last=today, added=frozenset({today})))
    assert (await calendars.by_names(narrow, ["c"])) == (await calendars.by_names(wide, ["c"]))
    assert len(await query(store, "select from calendar")) == 1


async def test_an_idempotency_key_of_before_is_answered_as_before(narrow):
    await a_type(narrow, "T")
    first = await idempotent.schedule(narrow, "once", "T", "key", at=None)
    wide = await widen(narrow)
    again = await idempotent.schedule(wide, "once", "T", "key", at=None)
    assert (first.replayed, again.replayed, again.answer) == (False, True, first.answer)


async def test_a_tenant_becomes_wider_only(narrow, store):
    with pytest.raises(Invalid):
        await tenants.widen(PlatformContext(store, "test"), "old", 4)
    with pytest.raises(Invalid):
        await tenants.widen(PlatformContext(store, "test"), "old", 17)
    assert (await widen(narrow, 16)).tenant.layout is Layout.SPREAD
    with pytest.raises(Invalid):
        await tenants.widen(PlatformContext(store, "test"), "old", 16)
    with pytest.raises(NotFound):
        await tenants.widen(PlatformContext(store, "test"), "nobody", 16)


async def test_of_two_who_widen_at_once_one_is_told_to_ask_again_or_both_are_counted(narrow, store):
    done = await asyncio.gather(
        *(tenants.widen(PlatformContext(store, "test"), "old", 64) for _ in range(4)), return_exceptions=True
    )
    assert all(isinstance(one, Tenant | Conflict | Invalid) for one in done)
    assert sum(isinstance(one, Tenant) for one in done) == 1
    assert not [one for one in done if isinstance(one, Exception) and not isinstance(one, HoraeError)]
    assert len((await tenants.find(store, "old")).former) == 1
