"""Targets that hang, refuse, break and come back: they cost the others nothing, and themselves no dead letters."""

from datetime import timedelta

from horae.domain.schedules import Policies
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from tests.calm import seen_in_calm
from tests.catcher import percentile
from tests.engine.running import ended, hurry, running
from tests.steps import NOWHERE, a_job, query, until

P95_MS = 500


async def test_five_targets_that_hang_and_one_that_refuses_do_not_delay_the_other_ninety_four(ctx, store, catcher):
    hung = {f"/{n}" for n in range(5)}
    catcher.answer = lambda arrival: None if arrival.path in hung else 200
    anchor = store.cells[0].clock.now().replace(microsecond=0)
    for n in range(100):
        target = NOWHERE if n == 5 else HttpTarget(f"{catcher.url}/{n}")
        await a_job(ctx, f"j{n}", IntervalTrigger(1, anchor + timedelta(milliseconds=10 * n)), target=target)
    began = store.cells[0].clock.now() + timedelta(seconds=2)

    async def late_ms():
        since = store.cells[0].clock.now() + timedelta(seconds=2)
        await until(lambda: sum(arrival.fire_time > since for arrival in catcher.arrivals) >= 94 * 6)
        return percentile([a.late_ms for a in catcher.arrivals if a.path not in hung and a.fire_time > since], 0.95)

    async with running(store) as node:
        assert await seen_in_calm(late_ms, lambda p95_ms: p95_ms < P95_MS) < P95_MS
        assert min(len(catcher.of(path)) for path in hung) >= 1
        assert len(catcher.hanging) <= 5 * 8, "who never answered has only its first few slots"
        assert node.admission.slots.free > 900
        catcher.release()
    well = [a for a in catcher.arrivals if a.path not in hung and a.fire_time > began]
    assert {a.path for a in well} == {f"/{n}" for n in range(6, 100)}
    assert max(a.attempt for a in well) == 1
    rows = await query(store, "select state, count(*) as many from instance_live group by 1")
    assert {row["state"] for row in rows} <= {"INIT", "FAIL"}, "what a gate held is recorded, and waits"


async def test_a_target_down_for_ten_minutes_loses_nothing_and_is_not_buried_when_it_comes_back(ctx, store, catcher):
    """Twenty jobs fire every ten seconds all the time, on a moved clock."""
    number, period, step = 20, 10, 5
    clock = store.cells[0].clock
    start = clock.now().replace(microsecond=0) + timedelta(seconds=10)
    broken, healed, over = (start + timedelta(minutes=minutes) for minutes in (2, 12, 17))
    catcher.answer = lambda arrival: 503 if broken <= arrival.at < healed else 200
    catcher.takes = 0.01
    for n in range(number):
        at, target = start + timedelta(seconds=n * period / number), HttpTarget(f"{catcher.url}/x")
        policies = Policies(end=over)
        await a_job(ctx, f"j{n}", IntervalTrigger(period, at), target=target, policies=policies)
    async with running(store, ttl=timedelta(minutes=1)) as node:  # longer than a step of the clock
        while clock.now() < over or await query(store, "select from instance_live limit 1"):
            await hurry(store, node, seconds=step)
            await until(lambda: _on_time(store, node, step))
            if clock.now() < healed:
                assert not await ended(store, 1, "DEAD")
    rows = await query(store, "select state, count(*) as many from instance_history group by 1")
    assert {row["state"] for row in rows} == {"SUCCESS"}
    assert sum(row["many"] for row in rows) == number * (over - start).total_seconds() / period
    # One intended effect per fire. A call in flight while the clock was moved past its deadline may come twice.
    assert len(catcher.effects) == number * (over - start).total_seconds() / period
    first = sum(arrival.attempt == 1 for arrival in catcher.arrivals)
    assert len(catcher.arrivals) - first <= 0.2 * first
    _grows_by_one_with_each_answer([arrival for arrival in catcher.arrivals if arrival.at >= healed])


async def _on_time(store, node, step):
    """Every schedule goes on, although its target is down: no cursor stands for longer than gates may hold a fire."""
    await node.once()  # what gates have held is recorded twice a second, which would be seconds on this clock
    behind = "select from job_cursor where next_fire_at < $1 limit 1"
    return not await query(store, behind, store.cells[0].clock.now() - timedelta(seconds=step + 3))


def _grows_by_one_with_each_answer(arrivals):
    """No storm: whoever comes back gets one call, and one more at the same time with every answer."""
    for arrival in arrivals:
        began = [other for other in arrivals if other.began <= arrival.began]
        answered = sum(other.ended <= arrival.began for other in began)
        assert len(began) - answered <= answered + 1
