"""Workers against a real server: what they are told, what they say, how they end."""

import asyncio
import contextvars
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from horae_client import (
    AsyncClient,
    Declined,
    Keyed,
    Put,
    Queue,
    Retry,
    RetryPolicy,
    Snooze,
    Unrecoverable,
    Worker,
    errors,
)
from tests.sdk.served import Home


async def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


@pytest.fixture
async def asked(home: Home) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(home.url, home.key) as client:
        await client.jobs.create("T", trigger=Keyed(), retry=RetryPolicy(base=0.01, jitter_min=0, jitter_max=0.001))
        yield client


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    """A worker at work while the block lasts; then it ends as if told to."""
    serving = asyncio.create_task(worker.serve())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(serving, 60)


def a_worker(home: Home, **facts: object) -> Worker:
    return Worker(home.url, home.key, wait=0.3, **facts)  # type: ignore[arg-type]


async def state_of(asked: AsyncClient, key: str, type_name: str = "T"):
    task = await asked.tasks.get(type_name, key)
    return task.live.state if task.live else task.outcome


async def ended(asked: AsyncClient, key: str, type_name: str = "T") -> str:
    deadline = time.monotonic() + 90
    while True:
        task = await asked.tasks.get(type_name, key)
        if task.live is None:
            return str(task.outcome)
        assert time.monotonic() < deadline, f"{key} is still {task.live.state}"
        await asyncio.sleep(0.05)


async def test_a_handler_is_told_all_about_its_attempt(home, asked):
    told = []
    worker = a_worker(home, name="me")

    @worker.task("T")
    async def handle(ctx):
        told.append(ctx)

    put = await asked.tasks.schedule("T", "k", payload={"n": 1})
    async with working(worker):
        assert await ended(asked, "k") == "SUCCESS"
    [ctx] = told
    assert (ctx.type, ctx.key, ctx.payload, ctx.attempt, ctx.instance_id) == ("T", "k", {"n": 1}, 1, put.instance_id)
    assert (ctx.fire_time, ctx.worker_id, ctx.lost) == (put.at, "me", False)
    assert ctx.idempotency_key.endswith(":t:k:1")
    assert ctx.traceparent.startswith("00-")
    assert (await asked.instances.get(put.instance_id)).worker_id == "me"


async def test_a_worker_is_listed_with_its_client_while_it_polls_and_its_queue_has_a_worker(home, asked):
    worker = a_worker(home, name="me", concurrency=7)

    @worker.task("T")
    async def handle(ctx):
        pass

    found = []

    async def listed():
        found[:] = [one async for one in asked.workers.list(polling=True)]
        return bool(found)

    async with working(worker):
        deadline = time.monotonic() + 60
        while not await listed():
            assert time.monotonic() < deadline, "nobody is listed"
            await asyncio.sleep(0.2)
        [queue] = [one async for one in asked.queues.list(name="T")]
    [one] = found
    assert (one.worker_id, one.queue, one.claimed, one.wanted) == ("me", "T", 0, 7)
    assert one.client.startswith("horae-client/")
    assert " python/3." in one.client
    assert (queue.polling, queue.unattended, queue.jobs) == (1, False, ["T"])


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
async def test_what_a_handler_says_decides_what_becomes_of_it(home, asked, raised):
    seen: dict[str, list[int]] = {}
    says = {
        "declined": Declined("withdrawn"),
        "dead": Unrecoverable("no such thing"),
        "retried": Retry("later", after=0.02),
        "snoozed": Snooze(0.02, "not yet"),
    }
    worker = a_worker(home)

    @worker.task("T")
    def handle(ctx):
        tries = seen.setdefault(ctx.key, [])
        tries.append(ctx.attempt)
        said = says.get(ctx.key)
        if said is None or (len(tries) > 1 and ctx.key in {"retried", "snoozed"}):
            return ctx.payload
        if raised:
            raise said
        return said

    await asked.tasks.schedule_many("T", [Put(key) for key in (*says, "plain")])
    async with working(worker):
        outcomes = {key: await ended(asked, key) for key in (*says, "plain")}
    assert outcomes == {
        "declined": "SKIPPED", "dead": "DEAD", "retried": "SUCCESS", "snoozed": "SUCCESS", "plain": "SUCCESS",
    }  # fmt: skip
    assert seen == {"declined": [1], "dead": [1], "retried": [1, 2], "snoozed": [1, 1], "plain": [1]}
    [retried] = [one async for one in asked.instances.list(key="retried")]
    [snoozed] = [one async for one in asked.instances.list(key="snoozed")]
    assert (retried.retry_count, snoozed.retry_count, snoozed.attempt) == (1, 0, 1)


async def test_any_other_exception_is_a_failure_that_goes_by_the_policy(home, asked):
    worker = a_worker(home)

    @worker.task("T")
    async def handle(ctx):
        raise KeyError("x")

    put = await asked.tasks.schedule("T", "k")
    async with working(worker):
        assert await ended(asked, "k") == "DEAD"
    [letter] = [one async for one in asked.dead_letters.list()]
    assert letter.error_msg == "KeyError: 'x'"
    assert (await asked.instances.get(put.instance_id)).retry_count == 6


async def test_a_type_with_one_at_a_time_runs_them_one_after_the_other(home, asked):
    await asked.jobs.create("SERIAL", trigger=Keyed())
    at_once, most = {"T": 0, "SERIAL": 0}, {"T": 0, "SERIAL": 0}
    worker = a_worker(home, concurrency=8)

    async def handle(ctx):
        at_once[ctx.type] += 1
        most[ctx.type] = max(most[ctx.type], at_once[ctx.type])
        await asyncio.sleep(0.02)
        at_once[ctx.type] -= 1

    worker.task("SERIAL", max_concurrency=1)(handle)
    worker.task("T")(handle)
    for name in most:
        await asked.tasks.schedule_many(name, [Put(f"k-{n}") for n in range(12)])
    async with working(worker):
        for name in most:
            assert {await ended(asked, f"k-{n}", name) for n in range(12)} == {"SUCCESS"}
    assert most["SERIAL"] == 1
    assert 1 < most["T"] <= 8


async def test_plain_functions_run_beside_each_other_in_threads_with_context_variables(home, asked):
    meeting, variable = threading.Barrier(4, timeout=20), contextvars.ContextVar("variable", default="?")
    variable.set("set")
    seen = []
    worker = a_worker(home, concurrency=4)

    @worker.task("T")
    def handle(ctx):
        meeting.wait()
        seen.append(variable.get())

    await asked.tasks.schedule_many("T", [Put(f"k-{n}") for n in range(4)])
    async with working(worker):
        assert {await ended(asked, f"k-{n}") for n in range(4)} == {"SUCCESS"}
    assert seen == ["set"] * 4


async def test_a_long_handler_keeps_its_task_by_heartbeats(home, asked):
    await asked.jobs.create("LONG", trigger=Keyed(), target=Queue("LONG", claim_seconds=1.0))
    tries = []
    worker = a_worker(home)

    @worker.task("LONG")
    async def handle(ctx):
        tries.append(ctx.attempt)
        await asyncio.sleep(2.5)

    await asked.tasks.schedule("LONG", "k")
    async with working(worker):
        assert await ended(asked, "k", "LONG") == "SUCCESS"
    assert tries == [1]
    assert worker.counts == {"done": 1, "late": 0, "refused": 0, "returned": 0}


async def test_what_was_cancelled_meanwhile_is_stopped_and_said_nothing_about(home, asked):
    await asked.jobs.create("LONG", trigger=Keyed(), target=Queue("LONG", claim_seconds=1.0))
    begun, cancelled = asyncio.Event(), []
    worker = a_worker(home)

    @worker.task("LONG")
    async def handle(ctx):
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(ctx.lost)
            raise

    await asked.tasks.schedule("LONG", "k")
    async with working(worker):
        await begun.wait()
        await asked.tasks.cancel("LONG", "k")
        await until(lambda: cancelled)
    assert cancelled == [True]
    assert sum(worker.counts.values()) == 0
    assert await state_of(asked, "k", "LONG") == "CANCELLED"


async def test_told_to_end_it_finishes_what_runs_and_hands_back_the_rest_uncounted(home, asked):
    begun, go_on = asyncio.Event(), asyncio.Event()
    worker = a_worker(home, concurrency=10)

    async def handle(ctx):
        begun.set()
        await go_on.wait()

    worker.task("T", max_concurrency=1, queue="SHARED")(handle)
    worker.task("U", queue="SHARED")(handle)
    await asked.jobs.create("U", trigger=Keyed(), target=Queue("SHARED"))
    job = await asked.jobs.get("T")
    await asked.jobs.update("T", version=job.version, trigger=Keyed(), target=Queue("SHARED"))
    await asked.tasks.schedule_many("T", [Put(f"k-{n}") for n in range(5)])
    serving = asyncio.create_task(worker.serve())
    await begun.wait()
    worker.stop()
    await asyncio.sleep(0)
    go_on.set()
    await serving
    assert worker.counts["returned"] == 4
    states = [await state_of(asked, f"k-{n}") for n in range(5)]
    assert sorted(states) == ["INIT"] * 4 + ["SUCCESS"]
    left = [one async for one in asked.instances.list(states=["INIT"])]
    assert {(one.attempt, one.retry_count) for one in left} == {(0, 0)}


async def test_a_handler_that_outlasts_the_grace_is_handed_back(home, asked):
    begun = asyncio.Event()
    worker = a_worker(home, grace=0.2)

    @worker.task("T")
    async def handle(ctx):
        begun.set()
        await asyncio.sleep(60)

    await asked.tasks.schedule("T", "k")
    serving = asyncio.create_task(worker.serve())
    await begun.wait()
    worker.stop()
    await serving
    assert await state_of(asked, "k") == "INIT"


async def test_a_key_that_may_not_work_ends_the_worker_with_the_reason(home):
    worker = Worker(home.url, "horae_nonsense", wait=1.0)
    worker.task("T")(lambda ctx: None)
    with pytest.raises(errors.Unauthenticated):
        await worker.serve()


async def test_a_task_nobody_here_handles_is_given_back_for_others(home, asked):
    await asked.jobs.create("OTHER", trigger=Keyed(), target=Queue("T"))
    worker = a_worker(home)
    worker.task("T")(lambda ctx: None)
    await asked.tasks.schedule("OTHER", "k")
    async with working(worker):
        await until(lambda: worker.counts["returned"])
    task = await asked.tasks.get("OTHER", "k")
    assert (task.live.state, task.live.attempt) == ("INIT", 0)


def test_a_type_has_one_handler():
    worker = Worker("http://horae.test", "horae_k")
    worker.task("T")(lambda ctx: None)
    with pytest.raises(ValueError, match="already"):
        worker.task("T")(lambda ctx: None)
    with pytest.raises(ValueError, match="at least 1"):
        worker.task("U", max_concurrency=0)(lambda ctx: None)
