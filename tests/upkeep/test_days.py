"""Days of history and events are dropped whole when their term is over, and an unread one never in silence."""

import asyncio
from datetime import UTC, datetime, time, timedelta

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.domain.errors import NoLongerKept, NotFound
from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.domain.ids import compose
from horae.domain.instances.searches import InstanceFilter
from horae.service.events import subscriptions
from horae.service.instances import interventions, searches
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store.databases import partitions
from horae.upkeep import days as dropping
from horae.upkeep.copies import Copier
from horae.upkeep.days import DayDropper
from horae.upkeep.feed import Feed
from horae.upkeep.partitions import Partitioner
from tests.events.test_feed import Inbox, drain
from tests.steps import a_job, a_type, move_clock, query

KEPT, HELD = timedelta(days=14), timedelta(days=7)
TABLES = """
    select c.relname as name, i.inhrelid is not null as attached from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid
    where c.relkind = 'r' and c.relname ~ '^(instance_history|outbox|instance_result|log_batch)_\\d{8}$' order by 1"""
ENDED = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key)
    values ($1, $1, $1, 1, 1, 0, $2, 1, 0, $3, $4, $5, 'SUCCESS', $6)"""
READ = ("instance_history", "outbox")
PARENTS = (*READ, "instance_result", "log_batch")
HAPPENED = "insert into outbox (at, shard_id, tenant_id, event, body) values ($1, $2, $3, $4, '{}')"


def midnight(cell, ago):
    return datetime.combine((cell.clock.now() - timedelta(days=ago)).date(), time(), UTC)


def named(parent, cell, ago):
    return f"{parent}_{midnight(cell, ago):%Y%m%d}"


@pytest.fixture
async def past(store):
    """A table of each parent for each of the last 30 days, in each cell."""
    for cell in store.cells:
        async with cell.statement() as tx:
            await partitions.ensure(tx, midnight(cell, 30).date(), 31)


async def tables(cell, *, attached=True):
    return {row["name"] for row in await query(cell, TABLES) if row["attached"] == attached}


def days_of(cell, first, last, parents=PARENTS):
    return {named(parent, cell, ago) for parent in parents for ago in range(last, first + 1)}


async def end_one(store, tenant, job, ago, at_ms=0):
    """An instance that was created and ended so many days ago; returns its id."""
    cell, shard = store.cell(job.shard), job.shard
    at = midnight(cell, ago) + timedelta(hours=12, milliseconds=at_ms)
    id_ = compose(shard, int(at.timestamp() * 1000), at_ms)
    await query(cell, ENDED, at, shard, id_, tenant.id, job.id, str(id_))
    return id_


async def test_days_over_their_term_go_whole_and_all_others_stay(store, past):
    before = [await tables(cell) for cell in store.cells]
    assert await DayDropper(store, KEPT, HELD).once() == len(PARENTS) * 16 * len(store.cells)
    for cell, tables_before in zip(store.cells, before, strict=True):
        assert tables_before - await tables(cell) == days_of(cell, 30, 15)
        assert await tables(cell, attached=False) == set()
    assert await DayDropper(store, KEPT, HELD).once() == 0


async def test_what_was_dropped_is_told_apart_from_what_never_was(ctx, store, tenant, past):
    job = await a_job(ctx)
    old, new = [await end_one(store, tenant, job, ago) for ago in (20, 3)]
    unknown = [compose(job.shard, int(midnight(store.cells[0], ago).timestamp() * 1000), 7) for ago in (20, 3)]
    assert (await searches.find(ctx, old)).id == old
    with pytest.raises(NotFound) as never:
        await searches.find(ctx, unknown[0])
    assert type(never.value) is NotFound, "nothing was dropped so far"
    await DayDropper(store, KEPT, HELD).once()
    for id_ in (old, unknown[0]):
        with pytest.raises(NoLongerKept, match="no longer kept"):
            await searches.find(ctx, id_)
        with pytest.raises(NoLongerKept):
            await interventions.cancel(ctx, id_)
    assert (await searches.find(ctx, new)).id == new
    with pytest.raises(NotFound) as young:
        await searches.find(ctx, unknown[1])
    assert type(young.value) is NotFound


async def test_a_search_in_dropped_days_says_so_and_does_not_say_that_nothing_happened(ctx, store, tenant, past):
    job = await a_job(ctx)
    await end_one(store, tenant, job, 20)
    kept = await end_one(store, tenant, job, 3)
    await DayDropper(store, KEPT, HELD).once()
    [cell] = [store.cell(job.shard)]
    then = InstanceFilter(since=midnight(cell, 25), until=midnight(cell, 18))
    with pytest.raises(NoLongerKept):
        await searches.of_job(ctx, job, then)
    with pytest.raises(NoLongerKept):
        await searches.of_tenant(ctx, then)
    whole = InstanceFilter(since=midnight(cell, 25), until=midnight(cell, 0))
    assert [past.id for past in (await searches.of_job(ctx, job, whole)).found] == [kept]
    empty = InstanceFilter(since=midnight(cell, 9), until=midnight(cell, 8))
    assert (await searches.of_job(ctx, job, empty)).found == []


@pytest.fixture
async def behind(ctx, store, past):
    """A subscription that has read nothing for 20 days, of tasks that were scheduled then."""
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await subscriptions.put(ctx, "warehouse", Subscription(TopicAddress("main", "acme.events"), ("TASK_*",)))
    await a_type(ctx, "PUBLISH")
    await Copier(store).once()
    await tasks.schedule(ctx, "PUBLISH", "a-1")
    long_ago = midnight(store.cells[0], 20) + timedelta(hours=1)
    await query(store, "update feed_position set at = $1, moved_at = $1", long_ago)


async def test_a_day_that_a_subscription_has_not_read_stays_with_a_warning(store, behind):
    with capture_logs() as logs:
        await DayDropper(store, KEPT, HELD).once()
    for cell in store.cells:
        assert days_of(cell, 20, 0, READ) <= await tables(cell)
        assert not days_of(cell, 30, 21) & await tables(cell), "those it has read are gone"
    held = [line for line in logs if line["event"] == "days.held_back"]
    assert {line["cell"] for line in held} == {cell.name for cell in store.cells}
    oldest = f"{midnight(store.cells[0], 20):%Y-%m-%d}"
    said = {(line["log_level"], line["oldest"], line["days"], *line["subscriptions"]) for line in held}
    assert said == {("warning", oldest, 6, "warehouse")}


async def test_a_subscription_that_has_caught_up_holds_nothing_back(ctx, store, behind):
    feed = Feed(store, Inbox(), store.shards_of)
    await drain(feed)
    await DayDropper(store, KEPT, HELD).once()
    for cell in store.cells:
        assert not days_of(cell, 30, 15) & await tables(cell)


async def test_a_removed_subscription_holds_nothing_back(ctx, store, behind):
    await subscriptions.remove(ctx, "warehouse")
    await Copier(store).once()
    await DayDropper(store, KEPT, HELD).once()
    for cell in store.cells:
        assert not days_of(cell, 30, 15) & await tables(cell)


async def test_after_its_time_an_unread_day_is_dropped_and_the_tenant_hears_which(ctx, store, tenant, behind):
    """Held for five days at most, the subscription misses what lies more than 19 days back."""
    with capture_logs() as logs:
        await DayDropper(store, KEPT, timedelta(days=5)).once()
    for cell in store.cells:
        assert days_of(cell, 19, 0, READ) <= await tables(cell)
        assert not days_of(cell, 30, 20) & await tables(cell)
    lost = [line for line in logs if line["event"] == "days.dropped_unread"]
    assert {line["table"] for line in lost} == days_of(store.cells[0], 20, 20, READ)
    missed = f"{midnight(store.cells[0], 20):%Y-%m-%d}"
    rows = await query(store, "select detail from audit_log where action = 'subscription.missed.day'")
    assert {row["detail"]["day"] for row in rows} == {missed}
    events = await query(store, "select body from outbox where event = 'SUBSCRIPTION_MISSED_DAY'")
    assert {row["body"]["day"] for row in events} == {missed}


async def test_a_compensation_that_was_not_relayed_holds_its_day_back(store, tenant, past):
    cell = store.cells[0]
    shard = store.shards_of(cell)[0]
    await query(cell, HAPPENED, midnight(cell, 20), shard, tenant.id, "COMPENSATION_ASKED")
    await DayDropper(store, KEPT, HELD).once()
    assert await tables(cell) & days_of(cell, 30, 15) == {named("outbox", cell, 20)}
    await query(cell, "insert into relay (xid, shard_id) values (txid_current(), $1)", shard)
    await DayDropper(store, KEPT, HELD).once()
    assert await tables(cell) & days_of(cell, 30, 15) == set()


async def test_a_replay_of_dropped_days_is_refused(ctx, store, behind):
    await drain(Feed(store, Inbox(), store.shards_of))
    cell = store.cells[0]
    await subscriptions.replay(ctx, "warehouse", midnight(cell, 20))
    await drain(Feed(store, Inbox(), store.shards_of))
    await DayDropper(store, KEPT, HELD).once()
    with pytest.raises(NoLongerKept, match="a replay can begin there"):
        await subscriptions.replay(ctx, "warehouse", midnight(cell, 20))
    await subscriptions.replay(ctx, "warehouse", midnight(cell, 10))


async def test_nobody_waits_while_a_long_reader_delays_a_drop_and_the_next_round_completes_it(
    ctx, store, tenant, past, monkeypatch
):
    monkeypatch.setattr(dropping, "DETACH_TIMEOUT_S", 0.3)
    job = await a_job(ctx)
    cell = store.cell(job.shard)
    reader = await asyncpg.connect(cell.dsn)
    async with reader.transaction():
        await reader.fetch(f"select from {named('instance_history', cell, 30)} limit 1")
        with capture_logs() as logs:
            rounds = asyncio.create_task(DayDropper(store, KEPT, HELD).once())
            written = 0
            while not rounds.done():
                async with asyncio.timeout(60):
                    await end_one(store, tenant, job, 0, written)
                written += 1
        postponed = [line for line in logs if line["event"] == "days.postponed" and line["cell"] == cell.name]
        assert [line["table"] for line in postponed] == [named("instance_history", cell, 30)]
        assert written > 0
    await reader.close()
    await DayDropper(store, KEPT, HELD).once()
    for one in store.cells:
        assert not days_of(one, 30, 15) & (await tables(one) | await tables(one, attached=False))


@pytest.mark.parametrize("step", ["record_drop", "mark", "detach", "drop"])
async def test_killed_before_any_step_the_next_round_goes_on(ctx, store, tenant, past, step, monkeypatch):
    job = await a_job(ctx)
    old = await end_one(store, tenant, job, 20)

    async def die(*_):
        raise ConnectionResetError("killed")

    with monkeypatch.context() as killed:
        killed.setattr(dropping.days, step, die)
        await DayDropper(store, KEPT, HELD).once()
    await DayDropper(store, KEPT, HELD).once()
    for cell in store.cells:
        assert not days_of(cell, 30, 15) & (await tables(cell) | await tables(cell, attached=False))
    with pytest.raises(NoLongerKept):
        await searches.find(ctx, old)


async def test_a_table_that_somebody_else_detached_is_not_ours_to_drop(store, past):
    cell = store.cells[0]
    saved = named("instance_history", cell, 25)
    await query(cell, f"alter table instance_history detach partition {saved}")
    await DayDropper(store, KEPT, HELD).once()
    assert await tables(cell, attached=False) == {saved}


async def test_two_processes_drop_each_day_once(store, past):
    dropped = await asyncio.gather(*(DayDropper(store, KEPT, HELD).once() for _ in range(4)))
    assert sum(dropped) == len(PARENTS) * 16 * len(store.cells)


async def test_a_cell_that_is_down_keeps_the_days_of_no_other(store, past, monkeypatch):
    down, other = store.cells[:2]

    def refuse(**_):
        raise ConnectionRefusedError("down")

    monkeypatch.setattr(down, "direct", refuse)
    await DayDropper(store, KEPT, HELD).once()
    assert days_of(down, 30, 15) <= await tables(down)
    assert not days_of(other, 30, 15) & await tables(other)


@pytest.mark.parametrize("many", [40, pytest.param(366, marks=(pytest.mark.long, pytest.mark.timeout(1800)))])
async def test_a_year_of_days_leaves_as_many_tables_as_are_kept_and_ahead(ctx, store, many):
    """By a clock that is moved a day at a time."""
    job, ends = await a_job(ctx), []
    for _ in range(many):
        await move_clock(store, days=1)
        await Partitioner(store).once()
        ends.append(await end_one(store, ctx.tenant, job, 0))
        await DayDropper(store, KEPT, HELD).once()
    for cell in store.cells:
        assert len(await tables(cell)) <= len(PARENTS) * (KEPT.days + 1 + partitions.DAYS_AHEAD)
    page = await searches.of_job(ctx, await jobs.find(ctx, job.name))
    assert [past.id for past in page.found] == ends[: -KEPT.days - 2 : -1]


async def test_logs_have_a_term_of_their_own_and_wait_for_nobody(store, behind):
    await DayDropper(store, KEPT, HELD, logs_kept=timedelta(days=3)).once()
    for cell in store.cells:
        left = await tables(cell)
        assert not days_of(cell, 30, 4, ["log_batch"]) & left
        assert days_of(cell, 3, 0, ["log_batch"]) <= left
        assert days_of(cell, 14, 0, ["instance_result"]) <= left
