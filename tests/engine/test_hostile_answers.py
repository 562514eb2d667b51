"""F1: a call that was answered gives its slot back, whatever the answer was, and keeps no other tenant waiting."""

from datetime import timedelta

import pytest

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from tests.bulk import bulk_jobs
from tests.delivery.server import OK, Visit, answer, serving
from tests.engine.running import running
from tests.steps import a_job, query, until

NO_DATE = "Mon, 01 Jan 99999999999 00:00:00 GMT"
RETRY_AFTER = answer(503, retry_after=NO_DATE, date=NO_DATE)
HOSTILE = {
    "a Retry-After that no calendar has": (1, RETRY_AFTER),
    "a Date that no calendar has": (1, answer(429, retry_after="Mon, 01 Jan 2024 00:00:00 GMT", date=NO_DATE)),
    "results in sixty thousand brackets": (5, answer(200, b"[" * 60_000)),
}
ADDRESSES = 170
"""Eight calls each. Of the 2000 slots of a node 1320 may be taken by first calls of normal priority."""


def soon(store, seconds=1):
    return store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=seconds)


def settled(node):
    """Whether nothing counts as being on its way."""
    slots = node.admission.slots
    desks = [post.flights._in_flight for post in node.runners.values()]
    return slots.free == slots.total and not any(desks + [one.in_flight for one in node.admission.targets])


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_call_that_was_answered_gives_its_slot_back_whatever_the_answer_was(ctx, store, kind):
    batch, said = HOSTILE[kind]
    heard = []

    async def behave(visit: Visit) -> None:
        while request := await visit.heard():
            heard.append(request)
            await visit.say(said)

    async with serving(behave) as server:
        target = HttpTarget(f"{server.url}/", batch=batch)
        for n in range(5):
            await a_job(ctx, f"j{n}", IntervalTrigger(3600, soon(store)), target=target)
        async with running(store) as node:
            await until(lambda: len(heard) >= (1 if batch > 1 else 5))
            await until(lambda: settled(node))
            await until(lambda: _none_running(store))


async def _none_running(store):
    return not await query(store, "select from instance_live where state = 'RUNNING'")


async def test_one_tenants_server_does_not_stop_the_calls_of_another(ctx, store):
    """A node with its usual slots, and a tenant with 170 addresses and eight jobs at each."""
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=64), "test")
    heard: list[bytes] = []

    async def behave(visit: Visit) -> None:
        while request := await visit.heard():
            path = request.split(b" ", 2)[1]
            heard.append(path)
            await visit.say(OK if path == b"/victim" else RETRY_AFTER)

    async with serving(behave) as server:
        await a_job(other, "victim", IntervalTrigger(1, soon(store)), target=HttpTarget(f"{server.url}/victim"))
        start = soon(store)
        for n in range(ADDRESSES):
            made = Definition(trigger=IntervalTrigger(3600, start), target=HttpTarget(f"{server.url}/hostile/{n}"))
            await bulk_jobs(ctx, store, 8, made, start, f"hostile-{n}")
        async with running(store) as node:
            await until(lambda: len(heard) - heard.count(b"/victim") >= 8 * ADDRESSES, 60)
            before = heard.count(b"/victim")
            await until(lambda: heard.count(b"/victim") >= before + 5, 60)
            assert node.admission.slots.free > node.admission.slots.total - 100
