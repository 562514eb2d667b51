"""Each measure is driven over its line and back by real load: a running node, real calls, and a clock that is moved.

The lines are settings, and lower here than in production: so the load of some hundred calls is enough. Delays come from
calls that wait for one of a few slots, so they do not depend on how fast the machine is.
"""

from collections import Counter
from datetime import timedelta

import pytest
from benchmarks.api_server import id_of_shard

from horae.domain.errors import RetryLimited
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.retries import RetryPolicy
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.measures.measures import DEFAULT_LINES, MeasureAction, MeasureLines
from horae.domain.measures.retries import bucket_wait
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.metrics import NODES_WANTED, NodeMetrics
from horae.service.instances import replays
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from tests.catcher import percentile
from tests.engine.load_scene import CORE_P95_MS, HERD, LINES, TAKES_S, under_load
from tests.engine.running import hurry
from tests.steps import a_job, every, query, until

FULL_SIZE = pytest.mark.long
CANCEL_WAITING = """
    delete from instance_live where (shard_id, id) in (
        select shard_id, id from instance_live where lane = 1 and state = 'FAIL' for update skip locked)"""
WAIT_FOR_RETRY = """
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, state, business_key, generation, attempt, retry_count)
    select shard, {id}, $1::uuid, $2::uuid, 1, $2::uuid::text || ':t:old' || n || ':' || shard, $3, $4, $3,
           1, 1, 60000, 'FAIL', 'old' || n || '-' || shard, 1, 1, 1
    from unnest($5::int[]) shard, generate_series(1, $6::int) n"""
DELAY_LINES = MeasureLines(trigger_delay_p95_ms=200)


def nodes_wanted(node):
    [family] = [one for one in NodeMetrics(node).collect() if one.name == NODES_WANTED.name]
    return family.samples[0].value


@pytest.mark.parametrize(
    ("herd", "lines"),
    [
        pytest.param(HERD, DELAY_LINES, id="small"),
        pytest.param({**HERD, "normal": 1200}, DEFAULT_LINES, id="full size", marks=FULL_SIZE),
    ],
)
async def test_seed_002_example_5_late_fires_pause_the_low_priority_reports_and_they_go_on(
    ctx, store, catcher, herd, lines, record_property
):
    catcher.takes = TAKES_S
    async with under_load(ctx, store, catcher, lines) as scene:
        limited, paused = {MeasureAction.LIMIT_LOW}, {MeasureAction.PAUSE_LOW, MeasureAction.ASK_FOR_DISPATCHERS}
        assert not scene.actions
        arrived = await scene.burst(**herd)
        assert arrived == herd
        assert await scene.judge() == limited
        for _ in range(3):
            arrived = await scene.burst(Priority.LOW, **herd)
            assert (arrived["critical"], arrived["normal"]) == (herd["critical"], herd["normal"])
            assert await scene.judge() == limited
        await scene.burst(Priority.LOW, **herd)
        assert await scene.judge() == paused
        catcher.arrivals.clear()
        arrived = await scene.burst(Priority.LOW, **herd)
        assert arrived == {"critical": herd["critical"], "normal": herd["normal"]}, "low priority has stopped"
        [held] = {one.hold.gate.name for one in scene.node.admission.holds() if one.hold.reason is HoldReason.MEASURE}
        assert held == "trigger_delay_p95/low"
        assert await scene.judge() == paused
        await scene.quiet_minutes(10)
        assert not scene.actions, "a paused queue does not keep its own measure in force"
        await scene.run()
        assert await scene.succeeded() == scene.put, "low priority has gone on, and nothing is lost"
        core_p95_ms = await scene.check_core()
        record_property("core_p95_ms", core_p95_ms)
        assert lines is not DEFAULT_LINES or core_p95_ms < CORE_P95_MS


async def test_run_success_rate_10m_halves_the_rate_of_retries_and_closes_backfills(ctx, store, catcher):
    catcher.answer = lambda arrival: 503 if arrival.path.startswith("/flaky") else 422 if dies(arrival) else 200
    async with under_load(ctx, store, catcher) as scene:
        pause = 17  # after two steps of ten seconds, or four where it is twice as long; a slow machine has 3 s to spare
        constant = RetryPolicy(base=pause, jitter_min=0, jitter_max=0, longest=pause, max_failures=100)
        flaky = [f"flaky{n}" for n in range(5)]
        await scene.make_types(*flaky, retry=constant, priority=Priority.CRITICAL)
        for name in flaky:
            await scene.plan(name, 1, store.clock.now())
        backfilled = await a_job(ctx, "hourly", every(ctx, 3600, "hourly"), target=HttpTarget(f"{catcher.url}/hourly"))
        await scene.run()
        before = await count_retries(scene, 60)
        await scene.burst(normal=210)
        assert await scene.judge(idle=True) == {MeasureAction.SLOW_RETRIES, MeasureAction.CLOSE_BACKFILLS}
        since = store.clock.now() - timedelta(hours=2)
        asked = BackfillRequest(since, since + timedelta(hours=1))
        with pytest.raises(RetryLimited, match="run_success_rate_10m"):
            await backfills.start(ctx, backfilled.name, "closed", asked)
        assert await count_retries(scene, 20) == 5, "those that failed before still have the short pause"
        assert before == 15, "5 instances, each in every second step"
        assert await count_retries(scene, 120) == before, "in twice the time"
        catcher.answer = lambda _arrival: 200
        await scene.quiet_minutes(18)
        assert not scene.actions
        await backfills.start(ctx, backfilled.name, "open", asked)
        await scene.run()
        catcher.answer = lambda _arrival: 503
        for name in flaky:
            await scene.plan(name, 1, store.clock.now())
        await scene.run()
        assert await count_retries(scene, 60) == before, "retries run at their own rate again"


async def test_seed_002_example_7_a_person_replays_transient_errors_and_the_success_rate_recovers(ctx, store, catcher):
    catcher.answer = lambda arrival: 503 if int(arrival.key.rpartition("-")[2]) % 20 == 0 else 200
    async with under_load(ctx, store, catcher) as scene:
        await scene.make_types("clearing", retry=RetryPolicy(max_failures=1))
        await scene.burst(clearing=210)
        assert await scene.judge() == {MeasureAction.SLOW_RETRIES, MeasureAction.CLOSE_BACKFILLS}
        [opened] = scene.watch.in_force.measures
        assert opened.state.value == pytest.approx(199 / 210)
        catcher.answer = lambda _arrival: 200
        assert (await replays.replay_by(ctx, tag="transient_error")).sent == 11
        await scene.run()
        assert await scene.succeeded() == scene.put, "every run has succeeded in the end"
        await scene.judge()
        [later] = scene.watch.in_force.measures
        assert later.state.value > opened.state.value
        await scene.quiet_minutes(15)
        assert not scene.actions


def dies(arrival):
    """Whether a run of the type `normal` dies: one of fifty."""
    return arrival.key is not None and arrival.path == "/normal" and int(arrival.key.rpartition("-")[2]) % 50 == 0


async def count_retries(scene, seconds):
    """Let time pass in steps of ten seconds, with what a step itself takes; returns how many retries came."""
    before, began = len(scene.catcher.arrivals), scene.store.clock.now()
    for step in range(10, seconds + 1, 10):
        left = began + timedelta(seconds=step) - scene.store.clock.now()
        await hurry(scene.store, scene.node, seconds=max(0.0, left.total_seconds()))
        await scene.run()
    return sum(arrival.attempt > 1 for arrival in scene.catcher.arrivals[before:])


async def test_retry_backlog_lets_retries_that_wait_already_go_short_work_first(ctx, store, catcher):
    retry = RetryPolicy(base=45, jitter_min=0, jitter_max=0, longest=90)
    async with under_load(ctx, store, catcher) as scene:
        names = [f"{kind}{n}" for kind in ("long", "short") for n in range(5)]
        await scene.make_types(*names, retry=retry)
        for some, catcher.takes in ((names[:5], 1.1), (names[5:], 0.0)):
            for name in some:
                await scene.plan(name, 1, store.clock.now())
            await scene.run()
        catcher.answer = lambda _arrival: 503
        for name in names:
            await scene.plan(name, 4, store.clock.now())
        await scene.run()
        catcher.answer = lambda _arrival: 200
        assert await scene.judge() == {MeasureAction.SHORT_RETRIES_FIRST}, "40 wait for their retry"
        catcher.arrivals.clear()
        retried = ("lane", Lane.RETRY)
        await scene.move_to(50)
        await until(lambda: len(catcher.arrivals) >= 20)
        await until(scene.landed)
        assert {arrival.path[:6] for arrival in catcher.arrivals} == {"/short"}, "long work waits behind short work"
        assert not await scene.idle()
        assert await scene.idle(retried)
        await hurry(store, scene.node, seconds=30)
        await scene.run()
        kinds = [arrival.path[1:-1] for arrival in catcher.arrivals]
        assert kinds == ["short"] * 20 + ["long"] * 20
        await scene.quiet_minutes(6)
        assert not scene.actions


@pytest.mark.long
async def test_200_000_retries_that_wait_go_short_work_first_by_the_line_of_production(
    ctx, store, catcher, record_property
):
    """The rows are inserted: a target that fails so often has its calls held back by its breaker long before."""
    retry = RetryPolicy(base=45, jitter_min=0, jitter_max=0, longest=90)
    async with under_load(ctx, store, catcher, DEFAULT_LINES) as scene:
        names = [f"{kind}{n}" for kind in ("long", "short") for n in range(10)]
        await scene.make_types(*names, retry=retry)
        for some, catcher.takes in ((names[:10], 1.1), (names[10:], 0.0)):
            for name in some:
                await scene.plan(name, 1, store.clock.now())
            await scene.run()
        due_at = store.clock.now().replace(second=40, microsecond=0) + timedelta(minutes=1)
        inserted = await insert_waiting(scene, names, due_at, 200_001)
        assert await scene.judge() == {MeasureAction.SHORT_RETRIES_FIRST}
        catcher.arrivals.clear()
        await scene.move_to(45)
        await until(lambda: len(catcher.arrivals) >= 100, 120)
        [measure] = scene.watch.in_force.measures
        free_at = measure.state.since + bucket_wait(1100)
        first = Counter(arrival.path[1:-1] for arrival in catcher.arrivals if arrival.at < free_at)
        assert set(first) == {"short"}, "long work waits behind short work"
        await hurry(store, scene.node, seconds=20)
        await until(lambda: any(arrival.path.startswith("/long") for arrival in catcher.arrivals), 120)
        await query(store, CANCEL_WAITING)
        await scene.quiet_minutes(7)
        assert not scene.actions, "the tasks were cancelled, so fewer wait"
        record_property("waiting", inserted)
        record_property("short_first", first["short"])


async def insert_waiting(scene, names, due_at, many):
    """Insert instances that wait for their retry, the same number of each type in each shard; returns how many."""
    before = scene.store.clock.now()
    jobs = {row["name"]: row["id"] for row in await query(scene.store, "select name, id from job")}
    inserted = 0
    for cell in scene.store.cells:
        shards = sorted(scene.store.shards_of(cell))[:100]
        each = many // (len(names) * len(shards) * len(scene.store.cells)) + 1
        text = WAIT_FOR_RETRY.format(id=id_of_shard("shard"))
        for name in names:
            await query(cell, text, scene.ctx.tenant.id, jobs[name], before, due_at, shards, each)
            inserted += each * len(shards)
    return inserted


@pytest.mark.parametrize(
    ("dying", "lines"),
    [pytest.param(21, LINES, id="small"), pytest.param(1001, DEFAULT_LINES, id="full size", marks=FULL_SIZE)],
)
async def test_dlq_growth_rate_leaves_core_work_only_until_fewer_die(
    ctx, store, catcher, dying, lines, record_property
):
    catcher.answer = lambda arrival: 422 if arrival.path == "/dying" else 200
    async with under_load(ctx, store, catcher, lines) as scene:
        await scene.make_types("dying")
        few = {"critical": 5, "normal": 5, "low": 5}
        assert await scene.burst(**few) == few
        await scene.judge()
        await scene.burst(dying=dying)
        assert MeasureAction.CORE_ONLY in await scene.judge()
        assert await scene.burst(Priority.NORMAL, Priority.LOW, **few) == {"critical": 5}
        await scene.judge()
        await scene.quiet_minutes(18)
        assert not scene.actions
        await scene.run()
        assert await scene.burst(**few) == few
        assert await scene.succeeded() == {name: scene.put[name] for name in few}, "what was withheld has run"
        core_p95_ms = percentile(await scene.delays_ms(Priority.CRITICAL), 0.95)
        record_property("core_p95_ms", core_p95_ms)
        assert lines is not DEFAULT_LINES or core_p95_ms < CORE_P95_MS


async def test_the_ladder_of_low_priority_at_peak_is_thinned_limited_paused_and_climbs_down(ctx, store, catcher):
    skipped = "select from instance_history where state = 'SKIPPED' and reason = 'PEAK'"
    async with under_load(ctx, store, catcher, DELAY_LINES) as scene:
        trigger = IntervalTrigger(10, store.clock.now().replace(second=0, microsecond=0))
        await a_job(ctx, "report", trigger, target=HttpTarget(f"{catcher.url}/report"), priority=Priority.LOW)
        scene.watch.signaller.take_load = scene.node.load.take
        await fill_slots(scene)
        assert await scene.judge() == {MeasureAction.THIN_LOW}
        await scene.run()

        async def verdicts():
            return Counter(ran=len(catcher.of("/report")), skipped=len(await query(store, skipped)))

        before = await verdicts()
        for _ in range(6):
            await hurry(store, scene.node, seconds=10)
            await scene.run()
        assert await verdicts() - before == {"ran": 3, "skipped": 3}, "every second fire of a minute"
        catcher.takes = TAKES_S
        await scene.move_to(5)
        for minute in range(5):
            await scene.burst(*[Priority.LOW] * bool(minute), **HERD)
            actions = await scene.judge()
            assert (MeasureAction.PAUSE_LOW if minute == 4 else MeasureAction.LIMIT_LOW) in actions
        assert nodes_wanted(scene.node) == 1
        catcher.takes = 0.0
        seen = []
        for _ in range(12):
            await scene.quiet_minutes(1)
            if not seen or seen[-1] != scene.actions:
                seen.append(scene.actions)
        down = [actions & {MeasureAction.PAUSE_LOW, MeasureAction.LIMIT_LOW} for actions in seen]
        assert [one for n, one in enumerate(down) if not n or down[n - 1] != one] == [
            {MeasureAction.PAUSE_LOW},
            {MeasureAction.LIMIT_LOW},
            set(),
        ]
        assert nodes_wanted(scene.node) == 0
        assert not scene.actions
        await scene.run()


async def fill_slots(scene):
    """Let calls hang until every slot that they may have is in use, and let the node note the load of that time."""
    at = scene.store.clock.now().replace(second=30, microsecond=0)
    scene.catcher.answer = lambda arrival: None if arrival.path != "/report" else 200
    for name, number in (("critical", 5), ("normal", 5), ("low", 4)):  # too few fires for a judgement of their delays
        await scene.plan(name, number, at)
    await scene.move_to(30)
    await until(lambda: scene.node.admission.slots.load == 1)
    scene.node.load.take()
    await scene.node.once()
    await scene.watch.signaller.once()
    scene.watch.signaller.take_load = lambda: None  # a calm rest of the minute would lower its average
    scene.catcher.answer = lambda _arrival: 200
    scene.catcher.release()
    await scene.run()
