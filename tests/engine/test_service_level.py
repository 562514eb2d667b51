"""The service level: a dead scheduler burns its budget by the due times of its gap, and nothing else burns it."""

from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.health.service_level import LevelCount
from horae.domain.limits.limits import Limit
from horae.domain.plans.plans import SHADOW
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.expected import count_between
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tenants.tenants import Allowance
from horae.runtime.randomness import new_token
from horae.service.context import PlatformContext
from horae.service.health.service_level import burning_budgets, service_levels
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from horae.upkeep.signals import Signaller
from tests.engine.running import running
from tests.engine.test_expiry import expire_all, expirers
from tests.steps import a_job, a_type, amid, move_clock, query, until

GAP = timedelta(minutes=10)
OBJECTIVE = 0.999
TASKS = 40
MISFIRES = {
    "once": Policies(),
    "skip": Policies(misfire=Misfire(OnMisfire.SKIP)),
    "all": Policies(misfire=Misfire(OnMisfire.ALL)),
    "few": Policies(misfire=Misfire(OnMisfire.ALL, cap=2)),
    "late": Policies(misfire=Misfire(OnMisfire.ONCE, max_lateness=120)),
    "alone": Policies(overlap=OnOverlap.FORBID),
    "queued": Policies(overlap=OnOverlap.QUEUE_ONE),
}


async def level_of(store, tenant_id=None):
    await Signaller(store, new_token()).once()
    return await service_levels(store, tenant_id, OBJECTIVE)


async def is_idle(store):
    """Whether nothing is due any more."""
    left = """select (select count(*) from instance_live where due_at <= $1)
                   + (select count(*) from job_cursor where next_fire_at <= $1) as many"""
    return not sum(row["many"] for row in await query(store, left, store.cells[0].clock.now()))


async def gap(store, **by):
    """Let time pass without a node. Fires at :00 and :15 are long due at its end, and none is due soon after."""
    await move_clock(store, **(by or {"seconds": GAP.total_seconds()}))


async def test_ten_minutes_without_a_node_burn_exactly_the_due_times_of_the_gap(ctx, store, catcher):
    await amid(store, 60)
    began = store.cells[0].clock.now()
    expected: Counter[str] = Counter()
    for kind, policies in MISFIRES.items():
        for n in range(3):
            for trigger in (cron("* * * * *"), IntervalTrigger(20, began.replace(second=15, microsecond=0))):
                name = f"{kind}-{n}-{type(trigger).__name__}"
                job = await a_job(ctx, name, trigger, target=HttpTarget(catcher.url), policies=policies)
                due = count_between(trigger, began, began + GAP - timedelta(seconds=12))
                expected[store.cell(job.shard).name] += due
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n), at=began + timedelta(seconds=1 + 14 * n))
    for row in await query(store, "select shard_id from instance_live where business_key is not null"):
        expected[store.cell(row["shard_id"]).name] += 1
    await gap(store)
    dead = await level_of(store)
    assert dead.total.overdue == len(MISFIRES) * 6 + TASKS, "a cursor counts once, until somebody walks it"
    assert {one.cell for one in await burning_budgets(store, None, OBJECTIVE)} == {cell.name for cell in store.cells}
    async with running(store):
        await until(lambda: is_idle(store), 60)
    back = await level_of(store)
    late: Counter[str] = Counter()
    for part in back.parts:
        late[part.cell] += part.level.count_of("30d").late
    assert late == expected
    assert len(late) == 2
    assert back.total.overdue == 0
    assert {span: back.total.count_of(span).late for span in ("1h", "3d", "30d")} == dict.fromkeys(
        ("1h", "3d", "30d"), expected.total()
    )
    assert (await level_of(store, ctx.tenant.id)).total.count_of("1h").late == expected.total()


async def test_the_late_fires_of_a_gap_stand_in_the_minutes_in_which_they_were_due(ctx, store, catcher):
    await amid(store, 60)
    began = store.cells[0].clock.now()
    for kind in ("once", "all", "skip"):
        await a_job(ctx, kind, cron("* * * * *"), target=HttpTarget(catcher.url), policies=MISFIRES[kind])
    await gap(store)
    async with running(store):
        await until(lambda: is_idle(store))
    await level_of(store)
    rows = await query(store, "select * from service_level where step_minutes = 1 and tenant_id = $1", ctx.tenant.id)
    minutes: Counter[timedelta] = Counter()
    for row in rows:
        minutes[row["begins_at"] - began.replace(second=0, microsecond=0)] += row["late"]
    assert minutes == {timedelta(minutes=n): 3 for n in range(1, 11)}


async def test_what_the_tenant_does_not_want_burns_nothing(ctx, store, catcher):
    """A paused job, a shadow, a paused tenant's fires, and a fire that overlaps."""
    await amid(store, 60)
    for name in ("paused", "shadow"):
        await a_job(ctx, name, target=HttpTarget(catcher.url), labels={SHADOW: "on"} if name == "shadow" else {})
        await jobs.pause(ctx, name)
    await a_job(ctx, "of-a-paused-tenant", target=HttpTarget(catcher.url))
    await lifecycle.pause(PlatformContext(store, "test"), "acme")
    await Copier(store).once()
    await gap(store)
    assert (await level_of(store)).total.overdue == 0
    async with running(store):
        await lifecycle.resume(PlatformContext(store, "test"), "acme")
        await Copier(store).once()
        await jobs.resume(ctx, "paused")
        await until(lambda: is_idle(store))
    reasons = await query(store, "select distinct reason from instance_history where state = 'SKIPPED'")
    assert {row["reason"] for row in reasons} == {"PAUSED"}
    assert (await level_of(store)).total.count_of("30d").late == 0


async def test_a_limit_of_the_tenant_and_a_target_that_fails_burn_nothing(ctx, store, catcher):
    catcher.answer = lambda arrival: 503 if arrival.path == "/fails" else 200
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(limit=Limit(concurrency=1)))
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await a_type(ctx, "F", target=HttpTarget(f"{catcher.url}/fails"))
    await Copier(store).once()
    catcher.takes = 0.05
    for n in range(20):
        now = store.cells[0].clock.now()
        await tasks.schedule(ctx, "T", str(n), at=now)
        await tasks.schedule(ctx, "F", str(n), at=now)
    async with running(store):
        await until(lambda: len(catcher.of("/fails")) >= 3 and len(catcher.arrivals) >= 10)
        held = await query(store, "select count(*) as many from instance_live where attempt = 0")
        assert sum(row["many"] for row in held), "some are held"
    counted = (await level_of(store)).total.count_of("30d")
    assert counted.late == 0
    assert counted.in_time >= 10


@pytest.mark.parametrize("late", [False, True])
async def test_a_workers_fire_is_in_time_when_it_could_be_claimed_whenever_a_worker_comes(ctx, store, late):
    await amid(store, 60)
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await a_type(ctx, "T", target=QueueTarget("q"))
    await Copier(store).once()
    await tasks.schedule(ctx, "T", "k", at=store.cells[0].clock.now())
    await gap(store, seconds=45 if late else 30)
    async with running(store):
        await until(lambda: has_fired(store))
    await move_clock(store, minutes=5)
    claimed = [await workers.claim(ctx, "q", "w") for _ in store.cells]  # one class of one cell at a time
    assert sum(map(len, claimed)) == 2
    assert (await level_of(store)).total.counts["30d"] == LevelCount(2 - late, int(late))


async def has_fired(store):
    return bool(await query(store, "select from instance_live where business_key is null"))


async def test_a_change_during_the_gap_burns_what_its_old_schedule_missed(ctx, store, catcher):
    await amid(store, 60)
    for kind in ("once", "all", "skip"):
        await a_job(ctx, kind, cron("* * * * *"), target=HttpTarget(catcher.url), policies=MISFIRES[kind])
    await gap(store)
    for kind in ("once", "all", "skip"):
        job = await jobs.find(ctx, kind)
        await schedules.update(ctx, kind, replace(job.definition, trigger=cron("0 0 * * *")))
    async with running(store):
        await until(lambda: is_idle(store))
    assert (await level_of(store)).total.count_of("30d").late == 30


async def test_a_task_that_expires_unsent_in_the_gap_is_late(ctx, store):
    await amid(store, 60)
    await a_type(ctx, "T", expires_after=60)
    await Copier(store).once()
    for n in range(4):
        await tasks.schedule(ctx, "T", str(n))
    await gap(store)
    assert sum(await expire_all(expirers(store))) == 4
    assert (await level_of(store)).total.counts["30d"] == LevelCount(0, 4)
