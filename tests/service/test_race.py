"""Seed 000 under race: authors keep moving five keys while workers claim and settle them and backends are killed.

Every change of a key raises its ledger's revision and leaves an event, every settled end raises it too and leaves a
history row. So the revisions put all that happened to a key into one order, and a sequential model is walked along it.
"""

import asyncio
import random
from collections import defaultdict
from contextlib import suppress
from datetime import timedelta
from itertools import product
from uuid import UUID

import pytest

from horae.domain.errors import Contended, Unavailable
from horae.domain.instances.instances import Lane
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, LostAttempt, Retryable, Success, Unrecoverable
from horae.domain.instances.retries import RetryPolicy
from horae.domain.tasks.tasks import AfterSuccess, Decision
from horae.engine.rescue import Rescuer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.tasks import tasks
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.service.tasks.tasks import ScheduleAnswer
from horae.store.tx import GONE, TRY_AGAIN
from tests.steps import a_type, claim, move_clock, query

AUTHORS, RESCHEDULES, WORKERS = 8, 200, 4
KEYS = [("PUBLISH", "a"), ("PUBLISH", "b"), ("PUBLISH", "c"), ("AUDIT", "d"), ("AUDIT", "e")]
QUICK = RetryPolicy(base=0.002, jitter_min=0, jitter_max=0.003, max_failures=4)
OUTCOMES = [
    (Retryable(ErrorCode.HTTP_5XX, "answered 503"), 70),
    (LostAttempt(), 15),
    (Unrecoverable(ErrorCode.HTTP_4XX, "answered 404"), 10),
    (Success(), 5),
]


class Storm:
    """Everything the test saw: acknowledged answers, and what became of each settle."""

    def __init__(self, ctx, store, types, seed):
        self.ctx, self.store, self.types = ctx, store, types
        self.chance = random.Random(seed)
        self.acknowledged = defaultdict(list)
        self.settles = []
        self.killed = 0
        self.over = asyncio.Event()

    async def author(self, number):
        """Every other author asks in batches, of several keys and of the same key twice."""
        n = 0
        while n < RESCHEDULES:
            type_name, key = self.chance.choice(KEYS)
            keys = [key]
            if number % 2:
                keys = self.chance.choices(
                    [key for name, key in KEYS if name == type_name], k=self.chance.randint(1, 4)
                )
            # A time nobody else asks for: its microseconds name the author and the call.
            at = self.store.cells[0].clock.now() + timedelta(milliseconds=self.chance.randint(-50, 80))
            wishes = [TaskIntent(key, at.replace(microsecond=number * 1000 + n + m)) for m, key in enumerate(keys)]
            n += len(wishes)
            await (self.put_many(type_name, wishes) if number % 2 else self.put_one(type_name, wishes[0]))
            await asyncio.sleep(self.chance.random() * 0.01)

    async def put_one(self, type_name, wish):
        self.acknowledged[type_name, wish.key].append((wish.at, await self.put(type_name, wish.key, wish.at)))

    async def put_many(self, type_name, wishes):
        """Ask again for those that were refused, as a caller does."""
        while wishes:
            answers = await schedule_many(self.ctx, type_name, wishes)
            assert all(isinstance(got, ScheduleAnswer | Contended | Unavailable) for got in answers)
            done = [isinstance(got, ScheduleAnswer) for got in answers]
            for wish, got, ok in zip(wishes, answers, done, strict=True):
                if ok:
                    self.acknowledged[type_name, wish.key].append((wish.at, got))
            wishes = [wish for wish, ok in zip(wishes, done, strict=True) if not ok]

    async def put(self, type_name, key, at):
        while True:
            with suppress(*GONE, *TRY_AGAIN, Contended):
                return await tasks.schedule(self.ctx, type_name, key, at=at)

    async def worker(self):
        settlers = {cell.name: Settler(cell) for cell in self.store.cells}
        while not self.over.is_set():
            for cell in self.store.cells:
                for ran in await self.claim(cell):
                    await asyncio.sleep(self.chance.random() * 0.02)
                    [outcome] = self.chance.choices(*zip(*OUTCOMES, strict=True))
                    job = self.types[ran.job_id]
                    with suppress(*GONE, *TRY_AGAIN):
                        done = await settlers[cell.name].settle([AttemptOutcome(ran, job, outcome)])
                        self.settles.append((ran, outcome, done))
            await asyncio.sleep(0.002)
        return sum(settler.late for settler in settlers.values())

    async def claim(self, cell):
        found = []
        for lane in (Lane.FIRST, Lane.RETRY):
            with suppress(*GONE, *TRY_AGAIN):
                found += await claim(cell, self.store, 2, lane=lane)
        return found

    async def killer(self, cluster):
        while not self.over.is_set():
            await asyncio.sleep(0.03)
            rows = await query_server(
                cluster,
                """select pg_terminate_backend(pid) from pg_stat_activity
                   where application_name = 'horae' order by random() limit 1""",
            )
            self.killed += len(rows)


async def query_server(cluster, text):
    import asyncpg

    connection = await asyncpg.connect(cluster.dsn("postgres"))
    try:
        return await connection.fetch(text)
    finally:
        await connection.close()


@pytest.mark.timeout(110)
async def test_authors_against_workers_with_backends_killed(ctx, store, cluster):
    publish = await a_type(ctx, "PUBLISH", retry=QUICK)
    audit = await a_type(ctx, "AUDIT", retry=QUICK, after_success=AfterSuccess.REOPEN)
    storm = Storm(ctx, store, {publish.id: publish, audit.id: audit}, seed=20261115)
    workers = [asyncio.create_task(storm.worker()) for _ in range(WORKERS)]
    killer = asyncio.create_task(storm.killer(cluster))
    await asyncio.gather(*(storm.author(number) for number in range(AUTHORS)))
    storm.over.set()
    late = sum(await asyncio.gather(*workers))
    await killer

    # The last acknowledged time is the one that fires: ask once more, in peace, then let everything run.
    for type_name, key in KEYS:
        at = store.cells[0].clock.now() + timedelta(seconds=30)
        storm.acknowledged[type_name, key].append((at, await storm.put(type_name, key, at)))
    await rescue_all(store)
    fired = await drain(store)

    assert storm.killed >= 20
    assert sum(map(len, storm.acknowledged.values())) >= AUTHORS * RESCHEDULES + len(KEYS)
    replaced = await check_keys(ctx, store, storm, {"PUBLISH": publish, "AUDIT": audit}, fired)
    check_settles(storm, replaced, late)


async def rescue_all(store):
    await move_clock(store, minutes=10)
    for cell in store.cells:
        await Rescuer(cell, Territory(store.shards_of(cell)), Definitions(), Settler(cell)).once()


async def drain(store):
    """Run whatever is left to its success; returns what ran, by id."""
    ran_times = {}
    for cell, lane in product(store.cells, (Lane.FIRST, Lane.RETRY)):
        claimed = await claim(cell, store, lane=lane)
        done = await Settler(cell).settle([AttemptOutcome(ran, None, Success()) for ran in claimed])
        assert done.refused == 0
        ran_times |= {ran.id: ran.fire_time for ran in claimed}
    assert await query(store, "select * from instance_live") == []
    return ran_times


async def check_keys(ctx, store, storm, types, fired):
    replaced_ids = set()
    for type_name, key in KEYS:
        job = types[type_name]
        args = (job.id, key)
        events = await query(
            store,
            "select body, event from outbox where job_id = $1 and body ->> 'key' = $2 and event like 'TASK_%'",
            *args,
        )
        told = {row["body"]["revision"]: row["body"] for row in events}
        assert len(told) == len(events), "no revision is given twice"
        past = await query(
            store, "select id, state, fire_time from instance_history where job_id = $1 and business_key = $2", *args
        )
        ended = {row["id"]: row for row in past}
        assert len(ended) == len(past), "every instance ends once"
        [ledger] = await query(store, "select * from task_key where job_id = $1 and business_key = $2", *args)

        for at, answer in storm.acknowledged[type_name, key]:
            body = told[answer.revision]
            assert body["decision"] == answer.decision, "what was acknowledged is what was written"
            if answer.at:
                assert answer.at == at

        model = Model(job.definition.after_success is AfterSuccess.REOPEN, ended)
        for revision in range(1, ledger["revision"] + 1):
            if revision in told:
                model.decided(told[revision])
            else:
                model.settled()
        assert model.state == ledger["outcome"]
        replaced_ids |= model.replaced
        assert {UUID(id_) for id_ in model.born} == set(ended)

        last_at, last = storm.acknowledged[type_name, key][-1]
        if last.decision is Decision.IGNORED:
            assert model.successes == 1, "a key that succeeded is not created again"
        else:
            assert fired[last.instance_id] == last_at
            assert ended[last.instance_id]["state"] == "SUCCESS"
    return replaced_ids


class Model:
    """The sequential rules of one key."""

    def __init__(self, reopen, ended):
        self.reopen, self.ended = reopen, ended
        self.state, self.id = None, None
        self.born, self.replaced, self.successes = [], set(), 0

    def decided(self, body):
        match body["decision"]:
            case "created":
                allowed = {None, "DEAD", "CANCELLED", "SKIPPED"} | ({"SUCCESS"} if self.reopen else set())
                assert self.state in allowed
                self.state, self.id = "LIVE", body["instance_id"]
                self.born.append(self.id)
            case "moved":
                assert self.state == "LIVE"
                assert body["instance_id"] == self.id, "a move keeps the id"
            case "replaced":
                assert self.state == "LIVE"
                assert body["replaced_id"] == self.id
                assert self.ended[UUID(self.id)]["state"] == "CANCELLED"
                self.replaced.add(UUID(self.id))
                self.id = body["instance_id"]
                self.born.append(self.id)
            case "ignored":
                assert self.state == "SUCCESS"
                assert not self.reopen
                assert body["reason"] == "succeeded"
            case other:
                raise AssertionError(other)

    def settled(self):
        assert self.state == "LIVE"
        self.state = self.ended[UUID(self.id)]["state"]
        assert self.state in {"SUCCESS", "DEAD"}
        self.successes += self.state == "SUCCESS"


def check_settles(storm, replaced, late):
    assert replaced, "the storm replaced running tasks"
    refused = [ran for ran, _, done in storm.settles if done.refused]
    assert len(refused) == late, "every refused settle is counted"
    assert refused
    for ran, _, done in storm.settles:
        if done.refused:
            assert ran.id in replaced, "nothing but a replacement takes an attempt from its worker here"
        else:
            assert done.written == 1


async def test_out_of_order_events_never_beat_a_newer_one(ctx, store):
    """Versions 1 to 60 of each key arrive shuffled from eight authors: the highest one stands."""
    job = await a_type(ctx, "PUBLISH")
    chance = random.Random(7)
    start = store.cells[0].clock.now() + timedelta(hours=1)
    events = [(key, version) for key in "abc" for version in range(1, 61)]
    chance.shuffle(events)

    async def author(mine):
        for key, version in mine:
            await tasks.schedule(ctx, "PUBLISH", key, at=start + timedelta(seconds=version), version=version)

    async def batcher(mine):
        wishes = [TaskIntent(key, start + timedelta(seconds=version), version=version) for key, version in mine]
        for n in range(0, len(wishes), 5):
            assert all(
                isinstance(got, ScheduleAnswer) for got in await schedule_many(ctx, "PUBLISH", wishes[n : n + 5])
            )

    await asyncio.gather(*((batcher if n % 2 else author)(events[n::8]) for n in range(8)))
    live = await query(store, "select * from instance_live where job_id = $1", job.id)
    assert len(live) == 3
    assert {(row["fire_time"] - start, row["intent_version"]) for row in live} == {(timedelta(seconds=60), 60)}
    again = await tasks.schedule(ctx, "PUBLISH", "a", at=start, version=60)
    assert (again.decision, again.reason) == ("ignored", "stale")


async def test_a_key_that_is_created_fires_and_succeeds_between_read_and_insert_is_not_created_again(
    ctx, store, monkeypatch
):
    await a_type(ctx, "PUBLISH")
    find, reads = tasks.tasks.find, []

    async def slow_find(tx, place):
        known = await find(tx, place)
        reads.append(known)
        if len(reads) == 1:
            monkeypatch.setattr(tasks.tasks, "find", find)
            assert (await tasks.schedule(ctx, "PUBLISH", "42")).decision == "created"
            assert len(await drain(store)) == 1
        return known

    monkeypatch.setattr(tasks.tasks, "find", slow_find)
    answer = await tasks.schedule(ctx, "PUBLISH", "42")
    assert reads[0].ledger is None, "the first read saw a key never used"
    assert (answer.decision, answer.reason) == ("ignored", "succeeded")
    past = await query(store, "select state from instance_history")
    assert [row["state"] for row in past] == [State.SUCCESS]
