"""Races and lost replies: what is final stays final, what was acknowledged is there, once (R-11, R-12, R-21)."""

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from itertools import product

import pytest

from horae.domain.errors import Contended
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success
from horae.domain.instances.retries import RetryPolicy
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import Finish
from horae.engine.rescue import Rescuer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_token
from horae.service.context import Context
from horae.service.instances import instances
from horae.service.tasks import tasks
from horae.service.workers import workers
from horae.store.cells import Cell
from horae.store.store import Store
from horae.store.tx import GONE, TRY_AGAIN
from horae.upkeep.copies import Copier
from tests.catcher import percentile
from tests.steps import a_job, a_type, claim, move_clock, query
from tests.system.proxy import proxied

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
AT_ONCE = RetryPolicy(base=0.001, jitter_min=0, jitter_max=0.001, max_failures=1000)
KEYS = 40


@pytest.mark.parametrize("rounds", [3, pytest.param(250, marks=LONG)])
async def test_completing_rescuing_and_claiming_again_at_the_same_moment_ends_each_once(
    ctx, store, rounds, record_property
):
    """Per round forty instances, each completed by two, rescued by two and claimed anew, all at once."""
    job = await a_type(ctx, retry=AT_ONCE)
    await Copier(store).once()
    chance = random.Random(11)
    for number in range(rounds):
        for n in range(KEYS):
            await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"{number}/{n}")
        while await query(store, "select from instance_live limit 1"):
            await _race(store, job, chance)
    ended = await query(store, "select id, state from instance_history")
    record_property("instances", len(ended))
    assert Counter(row["state"] for row in ended) == {"SUCCESS": rounds * KEYS}
    assert len({row["id"] for row in ended}) == rounds * KEYS


async def _race(store, job, chance):
    """Whoever loses is refused; nobody leaves an end, and nothing stays RUNNING."""
    places = list(product(store.cells, (Lane.FIRST, Lane.RETRY)))
    ran = [one for cell, lane in places for one in await claim(cell, store, owner=new_token(), lane=lane)]
    await move_clock(store, minutes=1)  # every deadline has passed: rescuers may
    outcomes = (Success(), Retryable(ErrorCode.HTTP_5XX, "answered 503"))
    results = [AttemptOutcome(one, job, outcome) for one in ran for outcome in outcomes]
    rescues = [_rescuer(store, cell).once() for cell in store.cells for _ in range(2)]
    again = [claim(cell, store, owner=new_token(), lane=lane, limit=10) for cell, lane in places]
    everything = [*(_settle(store, result) for result in results), *rescues, *again]
    chance.shuffle(everything)
    for done in await asyncio.gather(*everything, return_exceptions=True):
        assert not isinstance(done, BaseException) or isinstance(done, TRY_AGAIN), done
    # What was rescued runs now under a new token, at the same attempt.
    anew = [one for cell, lane in places for one in await claim(cell, store, owner=new_token(), lane=lane)]
    for result in results:
        assert (await _settle(store, result)).written == 0, "whoever comes later with an old token is refused"
    for one in anew:
        assert (await _settle(store, AttemptOutcome(one, job, Success()))).written == 1, (
            "and who has the new one never is"
        )


def _settle(store, result):
    return Settler(store.cell(result.ran.shard)).settle([result])


def _rescuer(store, cell):
    return Rescuer(cell, Territory(store.shards_of(cell)), Definitions(), Settler(cell))


@pytest.mark.parametrize("poison", [1, pytest.param(50, marks=LONG)])
async def test_a_poisonous_task_kills_three_workers_and_its_neighbours_do_not_notice(
    ctx, store, poison, record_property
):
    await a_type(ctx, "MAIL", target=QueueTarget("mail"))
    for n in range(poison):
        await tasks.schedule(ctx, "MAIL", f"poison-{n}")
    waits, deaths, served = [], Counter(), 0
    for round_ in range(8):
        for n in range(10):
            await tasks.schedule(ctx, "MAIL", f"well-{round_}-{n}")
        now = store.cells[0].clock.now()
        for one in await workers.claim(ctx, "mail", f"w-{round_}"):
            if one.key.startswith("poison"):
                deaths[one.key] += 1  # its worker is gone with it, and says nothing
                continue
            waits.append((now - one.fire_time).total_seconds())
            [answer] = await workers.finish(ctx, [Finish(one.instance_id, one.attempt, one.token, Success())])
            served += answer.verdict == "done"
        await move_clock(store, seconds=31)
        for cell in store.cells:
            await _rescuer(store, cell).once()
    record_property("poisonous", len(deaths))
    record_property("worker_deaths", sum(deaths.values()))
    record_property("neighbours_served", served)
    assert set(deaths.values()) == {3}
    assert served == 80, "each neighbour at its first try"
    assert percentile(waits, 0.95) < 2
    dead = await query(store, "select error_code from instance_history where state = 'DEAD'")
    assert [row["error_code"] for row in dead] == ["CRASH_LOOP"] * poison


@pytest.mark.parametrize("operations", [400, pytest.param(100_000, marks=LONG)])
async def test_of_replies_lost_after_the_commit_none_is_done_twice_and_none_is_lost(
    ctx, cells, operations, record_property
):
    """Authors put tasks and trigger a job through a network that swallows every fiftieth acknowledgement."""
    await a_type(ctx, target=QueueTarget("work"))
    await a_job(ctx, "report", ManualTrigger(), target=QueueTarget("work"))
    await Copier(ctx.store).once()
    async with AsyncExitStack() as stack:
        proxies = [stack.enter_context(proxied(cell.dsn)) for cell in cells]
        far = [Cell(cell.name, proxy.dsn) for cell, proxy in zip(cells, proxies, strict=True)]
        store = await stack.enter_async_context(Store(far))
        for proxy in proxies:
            proxy.lose_replies(50)
        through = Context.of(store, ctx.tenant, "test")
        unsure = await _work(through, operations)
        lost = sum(proxy.counts()["lost_replies"] for proxy in proxies)
        for proxy in proxies:
            proxy.mend()
    record_property("operations", operations)
    record_property("lost_replies", lost)
    record_property("asked_again", unsure)
    assert lost >= operations / 200
    assert unsure >= lost / 2, "authors did not learn what became of it, and asked again"
    rows = await query(ctx.store, "select business_key, idem_key from instance_live")
    keys = Counter(row["business_key"] or row["idem_key"] for row in rows)
    assert len(keys) == operations
    assert set(keys.values()) == {1}
    ledger = await query(ctx.store, "select generation from task_key")
    assert {row["generation"] for row in ledger} == {1}
    assert len(await query(ctx.store, "select from idempotency")) == operations - len(ledger)


async def _work(ctx, operations):
    """Ten authors; each operation is asked for until it is answered. Returns how often that was not the first time."""
    unsure, at = 0, ctx.store.cells[0].clock.now() + timedelta(hours=1)

    async def author(first):
        nonlocal unsure
        for n in range(first, operations, 10):
            while True:
                with suppress(*GONE, *TRY_AGAIN, Contended):
                    if n % 2:
                        await instances.trigger(ctx, "report", f"key-{n}", even_if_down=True)
                    else:
                        await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"key-{n}", at=at)
                    break
                unsure += 1

    await asyncio.gather(*(author(n) for n in range(10)))
    return unsure


@pytest.mark.parametrize("waiting", [20, pytest.param(20_000, marks=LONG)])
async def test_a_worker_that_asks_for_one_gets_one_however_the_claim_is_planned(ctx, store, waiting, record_property):
    """Sessions of ours plan nested loops only: just the plan with which the IN form updated every row (R-17)."""
    await a_type(ctx, "MAIL", target=QueueTarget("mail"))
    for n in range(waiting):
        await tasks.schedule(ctx, "MAIL", str(n))
    for asked in (1, 2, 5):
        assert len(await workers.claim(ctx, "mail", "w", asked)) == asked
    rows = await query(store, "select count(*) as many from instance_live where state = 'RUNNING'")
    record_property("waiting", waiting)
    assert sum(row["many"] for row in rows) == 8
