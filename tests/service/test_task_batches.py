"""A batch is the same as its tasks put one by one: in answers, rows, ledgers and events."""

import asyncio
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horae.domain.errors import Contended, HoraeError, Invalid, NotFound, Unavailable
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.tasks.tasks import AfterSuccess
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_token
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.tasks import batches, tasks
from horae.service.tasks.batches import TaskIntent, cancel_many, schedule_many
from horae.service.tenants.tenants import create
from horae.store.store import Store
from horae.store.tasks import tasks as rows
from tests.keyring import clear
from tests.steps import a_job, a_type, claim_everywhere, query, settle

TYPE = "ARTICLE_PUBLISH"
FAILED = Retryable(ErrorCode.HTTP_5XX, "answered 503")
DEAD = Unrecoverable(ErrorCode.HTTP_4XX, "answered 404")


async def test_every_task_of_a_batch_has_its_own_answer_in_its_own_place(ctx, store):
    await a_type(ctx)
    at = store.cells[0].clock.now() + timedelta(hours=1)
    without_offset, unwritable = TaskIntent("b", at.replace(tzinfo=None)), TaskIntent("c", payload="\0")
    wishes = [
        TaskIntent("a", at),
        TaskIntent(""),
        without_offset,
        unwritable,
        TaskIntent("a", payload=1),
        TaskIntent("d"),
    ]
    created, empty, naive, bad, moved, now = await schedule_many(ctx, TYPE, wishes)
    assert (created.decision, created.revision, created.at) == ("created", 1, at)
    assert (moved.decision, moved.revision, moved.instance_id) == ("moved", 2, created.instance_id)
    assert (now.decision, now.at <= store.cells[0].clock.now()) == ("created", True)
    for refused in (empty, naive, bad):
        assert isinstance(refused, Invalid)
    with pytest.raises(Invalid):
        await tasks.schedule(ctx, TYPE, "c", payload="\0")
    assert {row["business_key"] for row in await query(store, "select * from instance_live")} == {"a", "d"}


async def test_a_batch_is_of_one_type_that_exists_and_not_too_large(ctx):
    await a_job(ctx, "recurring")
    for name in ("recurring", "nothing"):
        with pytest.raises(NotFound):
            await schedule_many(ctx, name, [TaskIntent("a")])
    await a_type(ctx)
    assert await schedule_many(ctx, TYPE, []) == []
    with pytest.raises(Invalid, match="1000"):
        await schedule_many(ctx, TYPE, [TaskIntent(str(n)) for n in range(1001)])


async def test_a_thousand_tasks_are_written_in_one_transaction_a_cell(ctx, store):
    await a_type(ctx)
    answers = await schedule_many(ctx, TYPE, [TaskIntent(str(n), payload={"n": n}) for n in range(1000)])
    assert {answer.decision for answer in answers} == {"created"}
    for cell in store.cells:
        assert len(await query(cell, "select distinct xmin::text from instance_live")) == 1
    live = [await clear(store, row) for row in await query(store, "select * from instance_live")]
    assert {(row["business_key"], row["payload"]["n"]) for row in live} == {(str(n), n) for n in range(1000)}
    assert {answer.instance_id for answer in answers} == {row["id"] for row in live}


async def test_tasks_that_are_not_wanted_any_more_are_cancelled_together(ctx, store):
    await a_type(ctx)
    await schedule_many(ctx, TYPE, [TaskIntent(key, version=5) for key in "abc"])
    await claim_everywhere(store)
    await schedule_many(ctx, TYPE, [TaskIntent("d")])
    wishes = [TaskIntent("a"), TaskIntent("b", version=4), TaskIntent("never"), TaskIntent("d"), TaskIntent("a")]
    gone, stale, never, waiting, again = await cancel_many(ctx, TYPE, wishes)
    assert (gone.decision, waiting.decision) == ("cancelled", "cancelled")
    assert (stale.decision, stale.reason) == ("ignored", "stale")
    assert (again.decision, again.reason, again.revision) == ("ignored", "not_live", gone.revision + 1)
    assert isinstance(never, NotFound)
    assert {row["business_key"] for row in await query(store, "select * from instance_live")} == {"b", "c"}


async def test_a_cell_that_is_away_leaves_the_others_tasks_alone(ctx, store, cluster, monkeypatch):
    await a_type(ctx)
    keys = [str(n) for n in range(20)]
    await schedule_many(ctx, TYPE, [TaskIntent("0")])
    away = store.cells[1]

    async def refuse(_work):
        raise ConnectionError

    monkeypatch.setattr(away, "run", refuse)
    answers = await schedule_many(ctx, TYPE, [TaskIntent(key) for key in keys])
    for key, answer in zip(keys, answers, strict=True):
        lost = store.cell(ctx.tenant.shard(f"{TYPE}/{key}")) is away
        assert isinstance(answer, Unavailable) == lost


async def test_a_closed_shard_refuses_its_own_tasks_only(ctx, store):
    await a_type(ctx)
    shard = ctx.tenant.shard(f"{TYPE}/a")
    await query(store.cell(shard), "update shard set state = 'FROZEN', owner = null where shard_id = $1", shard)
    closed, fine = await schedule_many(ctx, TYPE, [TaskIntent("a"), TaskIntent("b")])
    assert isinstance(closed, Contended)
    assert fine.decision == "created"


async def test_keys_that_others_create_between_read_and_write_are_decided_again(ctx, store, monkeypatch):
    """One is created, one is created and succeeds, one is created and runs: all after the batch had read them."""
    await a_type(ctx, width=1)  # one shard, one cell, one read
    find = batches.batches.find

    async def slow_find(tx, *asked):
        known = await find(tx, *asked)
        monkeypatch.setattr(batches.batches, "find", find)
        assert known == {}
        for key in ("done", "runs", "waits"):
            await tasks.schedule(ctx, TYPE, key)
            if key != "waits":
                [ran] = await claim_everywhere(store)
            if key == "done":
                await settle(store, ran, Success())
        return known

    monkeypatch.setattr(batches.batches, "find", slow_find)
    answers = await schedule_many(ctx, TYPE, [TaskIntent(key) for key in ("done", "new", "runs", "waits")])
    assert [answer.decision for answer in answers] == ["ignored", "created", "replaced", "moved"]
    assert [answer.revision for answer in answers] == [3, 1, 2, 2]


async def test_batches_that_name_the_same_keys_in_different_orders_all_pass(ctx, store):
    await a_type(ctx)
    keys = [str(n) for n in range(40)]
    wishes = [[TaskIntent(key) for key in keys[n:] + keys[:n]] for n in range(8)]
    answers = await asyncio.gather(*(schedule_many(ctx, TYPE, part) for part in wishes))
    decisions = [answer.decision for part in answers for answer in part]
    assert (decisions.count("created"), decisions.count("moved")) == (40, 280)
    ledgers = await query(store, "select revision from task_key")
    assert {row["revision"] for row in ledgers} == {8}


# A batch beside the same tasks one by one: what happened before, then a batch of wishes.
KEYS = st.sampled_from("abcde")
PAST = st.sampled_from(["waits", "runs", "failed", "succeeded", "dead", "cancelled", "runs again"])
WISHES = st.builds(
    lambda key, seconds, payload, version: (key, seconds, payload, version),
    KEYS,
    st.none() | st.integers(-100, 100),
    st.just(msgspec.UNSET) | st.none() | st.integers(0, 3),
    st.none() | st.integers(1, 6),
)
PASTS = st.dictionaries(KEYS, st.tuples(PAST, st.none() | st.integers(1, 4)))


class Pair:
    """Two types with the same past; one is asked in batches, the other one by one."""

    def __init__(self, ctx, number, reopen):
        self.ctx, self.store = ctx, ctx.store
        self.names = [f"BATCH-{number}", f"SINGLE-{number}"]
        self.after = AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE
        self.start = ctx.store.cells[0].clock.now()

    async def begin(self, past):
        self.jobs = [await a_type(self.ctx, name, after_success=self.after) for name in self.names]
        for job in self.jobs:
            for key, (fate, version) in sorted(past.items()):
                await tasks.schedule(self.ctx, job.name, key, at=self.start, payload={"was": key}, version=version)
                await self.meet(job, key, fate)

    async def meet(self, job, key, fate):
        ends = {"failed": FAILED, "runs again": FAILED, "succeeded": Success(), "dead": DEAD}
        if fate == "cancelled":
            await tasks.cancel(self.ctx, job.name, key)
        elif fate != "waits":
            ran = await self.run(job, key)
            if fate in ends:
                await Settler(self.store.cell(ran.shard)).settle([AttemptOutcome(ran, job, ends[fate])])
            if fate == "runs again":
                await self.run(job, key)

    async def run(self, job, key):
        place = await tasks.place_of(self.ctx, job, key)
        await query(
            self.store.cell(place.shard),
            """update instance_live set state = 'RUNNING', attempt = attempt + 1, token = $3,
                      deadline = due_at + interval '1 minute' where job_id = $1 and business_key = $2""",
            job.id,
            key,
            new_token(),
        )
        async with self.store.statement(place.shard) as tx:
            return (await rows.find(tx, place)).live

    def wishes(self, drawn):
        return [
            TaskIntent(key, None if seconds is None else self.start + timedelta(seconds=seconds), payload, version)
            for key, seconds, payload, version in drawn
        ]

    async def one_by_one(self, verb, wishes):
        answers = []
        for wish in wishes:
            try:
                answers.append(await verb(wish))
            except HoraeError as refused:
                answers.append(refused)
        return answers

    def put(self, wish):
        return tasks.schedule(self.ctx, self.names[1], wish.key, at=wish.at, payload=wish.payload, version=wish.version)

    def drop(self, wish):
        return tasks.cancel(self.ctx, self.names[1], wish.key, version=wish.version)

    async def state(self, job):
        """Everything that is written about a type, without ids and the times of writing."""
        found = []
        for table, order in (
            ("task_key", "business_key"),
            ("instance_live", "business_key"),
            ("instance_history", "business_key, generation, ended_at, id"),
            ("dead_letter", "business_key"),
            ("outbox", "body ->> 'key', body ->> 'revision'"),
        ):
            where = "job_id = $1 and event like 'TASK_%'" if table == "outbox" else "job_id = $1"
            text = f"select *, row_number() over (order by {order}) from {table} where {where}"
            rows = await query(self.store, text, job.id)
            rows.sort(key=lambda row: (row.get("business_key") or row["body"]["key"], row["row_number"]))
            found += [(table, plain(dict(row), self.start)) for row in rows]
        return found


VOLATILE = {
    "shard_id", "id", "job_id", "instance_id", "idem_key", "token", "xid", "replay_of", "row_number", "replaced_id",
    "created_at", "updated_at", "changed_at", "ended_at", "on", "deadline", "due_at",
}  # fmt: skip


def plain(value, start):
    """A row without what differs by nature; a time that was `now` is only called so."""
    match value:
        case dict():
            outbox = "event" in value
            return {
                key: plain(one, start)
                for key, one in value.items()
                if key not in VOLATILE and not (outbox and key in {"at", "number"})
            }
        case list():
            return [plain(one, start) for one in value]
        case datetime():
            return seconds(value, start)
        case str() if value[:2] == "20" and "T" in value:
            return seconds(datetime.fromisoformat(value), start)
    return value


def seconds(at, start):
    apart = (at - start) / timedelta(seconds=1)
    return apart if apart == int(apart) else "now"


def said(answer, start):
    if isinstance(answer, HoraeError):
        return type(answer), str(answer).partition("/")[2]
    at = answer.at and seconds(answer.at, start)
    return answer.decision, answer.revision, answer.reason, at, bool(answer.instance_id), bool(answer.replaced_id)


@pytest.fixture
def world(cluster):
    loop = asyncio.new_event_loop()
    names = loop.run_until_complete(cluster.make_cells(2))
    store = Store.of([CellSettings(name=name, dsn=cluster.dsn(name)) for name in names])
    loop.run_until_complete(store.__aenter__())
    tenant = loop.run_until_complete(create(PlatformContext(store, "test"), "acme", width=4096))
    yield loop, Context.of(store, tenant, "author")
    loop.run_until_complete(store.__aexit__())
    loop.run_until_complete(cluster.drop(names))
    loop.close()


def compare(world, examples):
    loop, ctx = world
    numbers = iter(range(10**9))

    async def check(reopen, past, drawn, cancelled):
        pair = Pair(ctx, next(numbers), reopen)
        await pair.begin(past)
        wishes, drops = pair.wishes(drawn), pair.wishes(cancelled)
        batch = [*await schedule_many(ctx, pair.names[0], wishes), *await cancel_many(ctx, pair.names[0], drops)]
        single = [*await pair.one_by_one(pair.put, wishes), *await pair.one_by_one(pair.drop, drops)]
        assert [said(answer, pair.start) for answer in batch] == [said(answer, pair.start) for answer in single]
        assert await pair.state(pair.jobs[0]) == await pair.state(pair.jobs[1])

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        derandomize=True,
        database=None,
    )
    @given(st.booleans(), PASTS, st.lists(WISHES, max_size=12), st.lists(WISHES, max_size=4))
    def run(reopen, past, drawn, cancelled):
        loop.run_until_complete(check(reopen, past, drawn, cancelled))

    run()


@pytest.mark.timeout(600)
def test_a_batch_is_the_same_as_its_tasks_one_by_one(world):
    compare(world, 60)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_batch_is_the_same_as_its_tasks_one_by_one_5_000_times(world):
    compare(world, 5_000)
