"""F13: what catches up delays nothing that is on time, and what is lost of it loses nothing else."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import asyncpg
import pytest
from msgspec.structs import replace

from horae.domain.instances.instances import Priority
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.misfire import MOST
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.engine import walk
from horae.service.schedules import schedules
from horae.store.tx import Tx
from tests.engine.running import running
from tests.steps import Looker, a_job, move_clock, name_in, query, until

EVERY_FIRE = Policies(misfire=Misfire(OnMisfire.ALL, cap=MOST))
BEHIND = timedelta(seconds=MOST)
MAX_STATEMENTS = 100


@pytest.fixture
def statements(monkeypatch):
    """How many statements were asked."""
    asked = Counter()
    answered = Tx._run_in_time

    async def count(self, call):
        asked["many"] += 1
        return await answered(self, call)

    monkeypatch.setattr(Tx, "_run_in_time", count)
    return asked


async def test_f13_a_job_of_every_second_is_on_time_beside_one_that_is_10_000_fires_behind(ctx, store, catcher):
    """Its walk cannot get on for a while, as in a database that is slow: both came due in the same moment."""
    target = HttpTarget(f"{catcher.url}/slow")
    start = store.cells[0].clock.now().replace(microsecond=0)
    slow = await a_job(ctx, "slow", IntervalTrigger(1, start), target=target, policies=EVERY_FIRE)
    await move_clock(store, seconds=BEHIND.total_seconds())
    cell = store.cell(slow.shard)
    name = name_in(ctx, cell, "quick-")
    first = cell.clock.now().replace(microsecond=0)
    quick = await a_job(ctx, name, IntervalTrigger(1, first), target=HttpTarget(f"{catcher.url}/quick"))
    assert quick.next_fire_at is not None
    await move_clock(store, seconds=2)
    locked = await asyncpg.connect(cell.dsn)
    transaction = locked.transaction()
    await transaction.start()
    await locked.fetch("select from job_cursor where job_id = $1 for update", slow.id)
    async with running(store, ttl=timedelta(seconds=8)):

        def called():
            times = {one.fire_time for one in catcher.of("/quick")}
            return quick.next_fire_at in times and len(times) >= 4

        await until(called, 12)
        assert catcher.of("/slow") == []
        await transaction.rollback()
        await locked.close()
        await until(lambda: len(catcher.of("/slow")) > 100)


async def test_f13_10_000_fires_are_made_up_for_with_few_statements(ctx, store, statements):
    start = store.cells[0].clock.now().replace(microsecond=0)
    job = await a_job(ctx, "slow", IntervalTrigger(1, start), target=QueueTarget("q"), policies=EVERY_FIRE)
    await move_clock(store, seconds=BEHIND.total_seconds())
    looker = Looker(store, store.cell(job.shard))
    statements.clear()
    await looker.once()
    asked = statements["many"]
    rows = await query(store, "select fire_time from instance_live order by fire_time")
    times = [row["fire_time"] for row in rows]
    assert len(times) >= MOST
    assert all(later - one == timedelta(seconds=1) for one, later in pairwise(times))
    [cursor] = await query(store, "select next_fire_at, fired from job_cursor")
    assert cursor["next_fire_at"] == times[-1] + timedelta(seconds=1)
    assert cursor["fired"] == len(times)
    assert asked < MAX_STATEMENTS


async def test_f13_a_change_pays_what_its_job_owes_with_few_statements(ctx, store, statements):
    start = store.cells[0].clock.now().replace(microsecond=0)
    job = await a_job(ctx, "slow", IntervalTrigger(1, start), target=QueueTarget("q"), policies=EVERY_FIRE)
    await move_clock(store, seconds=1_000)
    statements.clear()
    await schedules.update(ctx, "slow", replace(job.definition, trigger=IntervalTrigger(60, start)))
    assert len(await query(store, "select from instance_live")) >= 1_000
    assert statements["many"] < MAX_STATEMENTS


async def test_f13_jobs_that_are_behind_are_walked_together_each_with_its_own_verdicts(ctx, store):
    """Some fires are made up for by one run, some not at all; priorities and cells are mixed."""
    start = store.cells[0].clock.now().replace(microsecond=0)
    for n in range(30):
        policies = Policies(misfire=Misfire(OnMisfire.SKIP if n % 3 else OnMisfire.ONCE))
        priority = Priority.LOW if n % 2 else Priority.NORMAL
        await a_job(
            ctx, f"j{n}", IntervalTrigger(60, start), target=QueueTarget("q"), policies=policies, priority=priority
        )
    await move_clock(store, minutes=10, seconds=30)
    for cell in store.cells:
        await Looker(store, cell).once()
    live = await query(store, "select job_id, count(*) as many from instance_live group by job_id")
    assert Counter(row["many"] for row in live) == {2: 10, 1: 20}, "the last minute, and one for all before"
    told = await query(store, "select range_count, reason from instance_history")
    assert Counter((row["range_count"], row["reason"]) for row in told) == {
        (8, SkipReason.MISFIRE): 10,
        (9, SkipReason.MISFIRE): 20,
    }


@pytest.mark.parametrize(
    "policies",
    [
        Policies(misfire=Misfire(OnMisfire.ALL, cap=300, pace=0.001), overlap=OnOverlap.FORBID),
        Policies(overlap=OnOverlap.QUEUE_ONE),
    ],
    ids=["every fire", "one of many"],
)
async def test_f13_a_job_that_is_decided_alone_catches_up_in_portions(ctx, store, monkeypatch, policies):
    monkeypatch.setattr(walk, "VERDICTS_PER_TRANSACTION", 20)
    start = store.cells[0].clock.now().replace(microsecond=0)
    job = await a_job(ctx, "slow", IntervalTrigger(1, start), target=QueueTarget("q"), policies=policies)
    await move_clock(store, seconds=500)
    await Looker(store, store.cell(job.shard)).once()
    rows = await query(store, "select fire_time, 1 as many from instance_live")
    rows += await query(store, "select fire_time, range_count as many from instance_history where state = 'SKIPPED'")
    [cursor] = await query(store, "select next_fire_at from job_cursor")
    owed = (cursor["next_fire_at"] - job.next_fire_at).total_seconds()
    assert owed >= 500
    assert sum(row["many"] for row in rows) == owed, "every fire has its row"
