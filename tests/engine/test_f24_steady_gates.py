"""F24: breakers and retry budgets go by steady ticks: a wall clock that is set back closes no gate for longer."""

from datetime import timedelta

from horae.domain.targets.targets import HttpTarget
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.engine.running import hurry, running
from tests.steps import a_type, move_clock, query, until

TASKS = 40


async def test_f24_a_breaker_that_is_open_when_the_clock_is_set_back_is_probed_as_if_it_were_not(ctx, store, catcher):
    """They are due for longer than the clock goes back: nothing but the gate holds them."""
    catcher.answer = lambda _: 503
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n))
    await move_clock(store, minutes=30)
    async with running(store, ttl=timedelta(seconds=8)) as node:
        await until(lambda: any(not target.breaker.closed for target in node.admission.targets))
        await hurry(store, node, minutes=-10)
        catcher.answer = lambda _: 200
        await until(lambda: sum(one.status == 200 for one in catcher.arrivals) > TASKS // 2)


async def test_f24_retries_are_earned_after_the_clock_was_set_back(ctx, store, catcher):
    """The budget of a target fills with the time that passes, not with what a clock says."""
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    async with running(store, ttl=timedelta(seconds=8)) as node:
        await Copier(store).once()
        await tasks.schedule(ctx, "T", "first")
        await until(lambda: len(catcher.arrivals) == 1)
        [target] = node.admission.targets
        target._budget = 0.0
        target.retry_at(node.admission.now())  # counted from here on
        await hurry(store, node, minutes=-10)
        await until(lambda: target.retry_at(node.admission.now()) <= node.admission.now())
    assert await query(store, "select from instance_live") == []
