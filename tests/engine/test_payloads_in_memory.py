"""What a node remembers of a call does not grow with its payload, once it is sent."""

import sys
from datetime import timedelta
from uuid import UUID, uuid4

from horae.domain.limits.limits import Key, Limit
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission import limited
from horae.engine.admission.admission import Admission
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.engine.builders import TENANT, FakeDesk, a_pushed_job, a_timer
from tests.engine.running import running
from tests.engine.test_steps import Permits
from tests.steps import a_type, until

TTL = timedelta(seconds=8)
TASKS = 4
PAYLOAD = [[] for _ in range(10_000)]
MAX_BYTES_PER_CALL = 4_000


def bytes_of(value) -> int:
    """What a value takes with everything in it; what many share is counted each time."""
    if isinstance(value, dict):
        return sys.getsizeof(value) + sum(bytes_of(one) for pair in value.items() for one in pair)
    if isinstance(value, list | tuple | set):
        return sys.getsizeof(value) + sum(map(bytes_of, value))
    inner = [getattr(value, name) for name in getattr(value, "__struct_fields__", ())]
    return sys.getsizeof(value) + sum(map(bytes_of, inner))


async def schedule_large_tasks(ctx, store, catcher):
    target = HttpTarget(catcher.url, completion_seconds=300, read_timeout=30)
    await a_type(ctx, "T", target=target, limit=Limit(concurrency=100))
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n), payload=PAYLOAD)


def counted(node):
    return [one for post in node.runners.values() for one in post.accepted._counted.values()]


async def test_accepted_work_is_remembered_without_payloads_also_by_who_takes_over(ctx, store, catcher):
    catcher.answer = lambda _: 202
    await schedule_large_tasks(ctx, store, catcher)
    for _ in range(2):
        async with running(store, ttl=TTL) as node:
            await until(lambda: len(counted(node)) == TASKS)
            assert bytes_of(counted(node)) < TASKS * MAX_BYTES_PER_CALL
    assert len(catcher.arrivals) == TASKS


async def test_a_call_that_was_sent_is_remembered_without_its_payload(ctx, store, catcher):
    catcher.answer = lambda _: None
    await schedule_large_tasks(ctx, store, catcher)
    async with running(store, ttl=TTL) as node:
        await until(lambda: len(catcher.arrivals) == TASKS)
        flights = [flight for post in node.runners.values() for flight in post.flights._in_flight.values()]
        assert len(flights) == TASKS
        assert bytes_of([flight.ran for flight in flights]) < TASKS * MAX_BYTES_PER_CALL
        catcher.release()


def test_a_tenant_with_very_much_accepted_work_calls_no_more_until_some_has_ended(monkeypatch):
    monkeypatch.setattr(limited, "MAX_ACCEPTED_PER_TENANT", 3)
    limits = [(Key(TENANT, "job/a"), Limit(concurrency=1000))]
    gates, desk = Admission(100, permits=Permits(1000), limits_of=lambda _job: limits), FakeDesk()
    other = (Key(UUID(int=9), "job/b"), Limit(concurrency=1000))
    for _ in range(3):
        gates.limits.add_accepted(TENANT)
    for _ in range(5):
        gates.offer(a_timer(), a_pushed_job(quotas=("a",)), desk)
    assert gates.dispatch() == 0
    assert gates.limited == 5
    limits[:] = [other]
    gates.offer(a_timer(tenant=uuid4()), a_pushed_job("http://other/"), desk)
    assert gates.dispatch() == 1, "another tenant has room"
    limits[:] = [(Key(TENANT, "job/a"), Limit(concurrency=1000))]
    gates.recheck_gates()
    assert gates.dispatch() == 0
    gates.limits.end_accepted(TENANT)
    gates.recheck_gates()
    assert gates.dispatch() == 5
