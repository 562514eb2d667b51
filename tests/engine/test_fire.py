"""Firing: one birth per fire, whoever believes to own the shard; one bad row never holds up the rest."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise

import pytest
from asyncpg import QueryCanceledError

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.engine.feeder import LOOK_BACK_SLACK
from horae.service.jobs import jobs
from tests.bulk import bulk_jobs
from tests.steps import NOWHERE, Looker, a_job, amid, every, move_clock, query


async def fire_all(store, firers=None):
    done = 0
    for cell in store.cells:
        one = (firers or {}).get(cell.name) or Looker(store, cell)
        while more := await one.once():
            done += more
    return done


@pytest.mark.parametrize(
    "fires", [6, pytest.param(60, marks=[pytest.mark.long, pytest.mark.timeout(900)])], ids=["6 each", "60 each"]
)
async def test_four_loops_that_all_own_everything_record_each_fire_once(ctx, store, fires):
    """Row correctness without leases: 5,000 jobs, each so many fires, four loops per cell, a moved clock."""
    loops, number = 4, 5_000
    start = store.cells[0].clock.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    await bulk_jobs(ctx, store, number, Definition(trigger=IntervalTrigger(3600, start), target=NOWHERE), start)
    firers = [Looker(store, cell) for cell in store.cells for _ in range(loops)]

    async def drain(one):
        with suppress(QueryCanceledError):  # it stood behind the other three for too long; a node looks again
            while await one.once():
                pass
            return
        await drain(one)

    for n in range(fires):
        due = start + timedelta(hours=n)  # on time each time, however long the last round took
        await move_clock(store, seconds=(due - store.cells[0].clock.now()).total_seconds() + 1)
        await asyncio.gather(*map(drain, firers))
    rows = await query(store, "select job_id, fire_time, count(*) as records from instance_live group by 1, 2")
    assert Counter(row["records"] for row in rows) == {1: number * fires}
    per_job = Counter(row["job_id"] for row in rows)
    assert set(per_job.values()) == {fires}
    assert len(per_job) == number
    expected = {start + timedelta(hours=n) for n in range(fires)}
    assert {row["fire_time"] for row in rows} == expected


async def test_a_cursor_committed_late_below_the_bound_fires_within_one_sweep(ctx, store):
    job = await a_job(ctx, "late", every(ctx, 3600, "late"))
    cell = store.cell(job.shard)
    one = Looker(store, cell)
    await one.once()
    late = await cell.pool.acquire()
    change = late.transaction()
    await change.start()
    fire_time = job.definition.trigger.anchor
    await late.execute("update job_cursor set next_fire_at = $1 where job_id = $2", fire_time, job.id)
    for _ in range(3):  # meanwhile the front moves on, past the slack
        await move_clock(store, seconds=LOOK_BACK_SLACK.total_seconds())
        assert await one.once() == 0
    await change.commit()
    await cell.pool.release(late)
    assert one.feeder.cursors.marks[Priority.NORMAL, Lane.FIRST].at > fire_time
    for _ in range(3):
        await move_clock(store, seconds=LOOK_BACK_SLACK.total_seconds())
        if await one.once():
            break
    else:
        pytest.fail("the sweep did not find it within its minute")


async def test_one_row_that_violates_a_check_stands_alone_with_its_reason(ctx, store):
    """A batch of 100: 99 proceed, one leaves a REFUSED verdict, and its cursor goes on."""
    await amid(store, 60)
    shard = ctx.tenant.shard("bad-0")
    made = []
    for n in range(20_000):
        name = f"bad-{n}"
        if store.cell(ctx.tenant.shard(name)) is store.cell(shard):
            made.append(await jobs.create(ctx, name, Definition(trigger=cron("* * * * *"), target=NOWHERE)))
        if len(made) == 100:
            break
    cell = store.cell(shard)
    await query(cell, f"alter table instance_live add constraint spite check (job_id <> '{made[42].id}')")
    await move_clock(store, minutes=1)
    assert await Looker(store, cell).once() == 100
    born = await query(cell, "select job_id from instance_live")
    assert {row["job_id"] for row in born} == {job.id for job in made} - {made[42].id}
    [verdict] = await query(cell, "select * from instance_history")
    assert (verdict["job_id"], verdict["state"], verdict["reason"]) == (made[42].id, "SKIPPED", "REFUSED")
    assert "spite" in verdict["error_msg"]
    [cursor] = await query(cell, "select next_fire_at from job_cursor where job_id = $1", made[42].id)
    assert cursor["next_fire_at"] == verdict["fire_time"] + timedelta(minutes=1)


async def test_a_node_that_comes_back_late_fires_every_passed_minute_once(ctx, store):
    job = await a_job(ctx, "minutely", cron("* * * * *"), policies=Policies(misfire=Misfire(OnMisfire.ALL)))
    last = job.next_fire_at + timedelta(minutes=29)
    await move_clock(store, seconds=(last - store.cells[0].clock.now()).total_seconds() + 30)  # amid a minute
    assert await fire_all(store) == 1, "one cursor moved on, past all thirty"
    rows = await query(store, "select fire_time from instance_live order by 1")
    times = [row["fire_time"] for row in rows]
    assert [b - a for a, b in pairwise(times)] == [timedelta(minutes=1)] * 29


async def test_a_job_without_another_fire_completes(ctx, store):
    year = store.cells[0].clock.now().year + 1
    await a_job(ctx, "last", cron(f"0 0 0 1 1 ? {year}"))
    await move_clock(store, days=500)
    assert await fire_all(store) == 1
    assert [row["status"] for row in await query(store, "select status from job")] == ["COMPLETED"]
