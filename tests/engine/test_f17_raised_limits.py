"""F17: how many calls a job lets its target have under way counts from its next version on, whoever came first."""

from horae.domain.jobs.jobs import Definition
from horae.domain.limits.limits import Limit
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.admission import Admission
from horae.engine.quotas.slices import LINGER_S, Slice
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.catcher import most_at_once
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer
from tests.engine.running import running
from tests.steps import a_type, until


async def test_a_raised_max_concurrency_takes_effect_on_a_node_that_runs(ctx, store, catcher):
    catcher.answer = lambda _arrival: None
    await a_type(ctx, "T", target=HttpTarget(catcher.url, max_concurrency=1))
    await Copier(store).once()
    async with running(store):
        await tasks.schedule(ctx, "T", "before")
        await until(lambda: len(catcher.hanging) == 1)
        catcher.release()
        raised = Definition(trigger=KeyedTrigger(), target=HttpTarget(catcher.url, max_concurrency=8))
        await schedules.update(ctx, "T", raised)
        await Copier(store).once()
        for n in range(12):
            await tasks.schedule(ctx, "T", f"after{n}")
        await until(lambda: len(catcher.hanging) == 8, 30)
        catcher.answer = lambda _arrival: 200
        catcher.release()
        await until(lambda: len(catcher.arrivals) == 13)
    assert most_at_once(catcher.arrivals) == 8


def test_a_job_without_a_limit_is_not_held_back_by_anothers_at_the_same_url():
    desk, gates = FakeDesk(), Admission(100, now=NOW.timestamp)
    gentle = a_pushed_job(target=HttpTarget("http://x/", max_concurrency=1))
    gates.offer(a_timer(), gentle, desk)
    gates.dispatch()
    for _ in range(5):
        gates.offer(a_timer(), a_pushed_job(), desk)
    gates.dispatch()
    assert len(desk.accepted) == 6
    gates.offer(a_timer(), gentle, desk)
    gates.dispatch()
    assert len(desk.accepted) == 6, "which keeps to its own"


def a_slice(limit, held=100):
    kept = Slice(limit, 1000.0, 0.0)
    kept._held = kept._share = held
    kept._valid_until = 1000.0
    return kept


def test_of_several_limits_for_one_key_the_least_counts_until_it_was_not_named_for_a_while():
    kept = a_slice(Limit(concurrency=8))
    for tick, named, counts in (
        (0.0, 8, 8),
        (0.1, 1, 1),
        (0.2, 8, 1),
        (0.2 + LINGER_S, 8, 1),
        (0.3 + 2 * LINGER_S, 8, 8),
        (0.4 + 2 * LINGER_S, 2, 2),
    ):
        kept.note_limit(Limit(concurrency=named), tick)
        assert kept.limit == Limit(concurrency=counts), tick


def test_a_call_that_a_limit_did_not_count_by_number_gives_nothing_back_that_another_holds():
    kept = a_slice(Limit(rate=5), held=1)
    kept._calls = {0: 5}
    assert kept.take(0.0, rated=True)
    assert kept.leave(0.0)
    kept.limit = Limit(concurrency=1)
    assert not kept.take(0.1, rated=False), "the call under way is counted"
    kept.give(0.2)
    assert kept.take(0.3, rated=False)
    assert not kept.take(0.4, rated=False)
