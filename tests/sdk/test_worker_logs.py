"""Lines, progress and results of workers against a real server: sent in the background, in order, and bounded."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from horae_client import AsyncClient, Keyed, Retry, RetryPolicy, errors
from horae_client.logs import LogHandler
from horae_client.models import Work
from horae_client.work.context import Context
from horae_client.work.logs import MAX_WAITING_BYTES, AttemptLog
from tests.sdk.served import Home
from tests.sdk.test_worker import a_worker, state_of, until, working


@pytest.fixture
async def asked(home: Home) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(home.url, home.key) as client:
        await client.jobs.create("T", trigger=Keyed(), retry=RetryPolicy(base=0.01, jitter_min=0, jitter_max=0.001))
        yield client


async def ended(asked: AsyncClient, key: str) -> str:
    """The id of the instance of a key that has ended."""
    while await state_of(asked, key) != "SUCCESS":
        await asyncio.sleep(0.02)
    return (await anext(asked.instances.list(key=key))).id


async def test_what_a_handler_logs_and_returns_is_there_when_it_has_ended(home, asked):
    worker = a_worker(home)

    @worker.task("T")
    async def handle(ctx):
        ctx.log("begun")
        ctx.log("strange", level="warning")
        ctx.set_result({"sent": 3})

    async with working(worker):
        await asked.tasks.schedule("T", "a")
        id_ = await ended(asked, "a")
    lines = [line async for line in asked.instances.logs(id_)]
    assert [(line.attempt, line.number, line.level, line.text) for line in lines] == [
        (1, 0, "info", "begun"),
        (1, 1, "warning", "strange"),
    ]
    assert (await asked.instances.result(id_)).result == {"sent": 3}


async def test_a_tail_follows_a_running_handler_over_its_retry_until_the_end(home, asked):
    worker, go = a_worker(home), asyncio.Event()

    @worker.task("T")
    async def handle(ctx):
        ctx.log(f"attempt {ctx.attempt}")
        await go.wait()
        if ctx.attempt == 1:
            raise Retry("again")

    async with working(worker):
        await asked.tasks.schedule("T", "a")
        await until(lambda: worker.counts is not None)
        id_ = (await anext(asked.instances.list(key="a"))).id
        heard = []
        async for line in asked.instances.tail(id_):
            heard.append(line.text)
            go.set()
    assert heard == ["attempt 1", "attempt 2"]


async def test_the_logging_handler_writes_lines_of_the_attempt_that_runs(home, asked):
    worker, shop = a_worker(home), logging.getLogger("test.shop")
    handler = LogHandler(logging.INFO)
    shop.addHandler(handler)
    shop.setLevel(logging.DEBUG)

    @worker.task("T")
    def handle(ctx):  # in a thread
        shop.debug("too fine")
        shop.error("key %s", ctx.key)

    try:
        shop.error("outside")
        async with working(worker):
            for key in ("a", "b"):
                await asked.tasks.schedule("T", key)
            for key in ("a", "b"):
                id_ = await ended(asked, key)
                lines = [(line.level, line.text) async for line in asked.instances.logs(id_)]
                assert lines == [("error", f"key {key}")]
    finally:
        shop.removeHandler(handler)
        handler.close()
    assert LogHandler.in_use == 0


async def test_progress_is_shown_while_the_handler_runs(home, asked):
    worker, go = a_worker(home), asyncio.Event()

    @worker.task("T")
    async def handle(ctx):
        ctx.progress(40, "page 4\nof 10")
        await go.wait()

    async with working(worker):
        await asked.tasks.schedule("T", "a")
        id_ = (await anext(asked.instances.list(key="a"))).id
        while (shown := (await asked.instances.get(id_)).progress) is None:
            await asyncio.sleep(0.02)
        go.set()
        await ended(asked, "a")
    assert (shown.percent, shown.text) == (40, "page 4 of 10")
    assert (await asked.instances.get(id_)).progress is None


async def test_a_flood_is_bounded_in_the_worker_and_the_reader_sees_how_much_is_missing(home, asked):
    worker = a_worker(home)

    @worker.task("T")
    def handle(ctx):
        for number in range(20_000):
            ctx.log(f"{number} {'x' * 200}")

    async with working(worker):
        await asked.tasks.schedule("T", "a")
        id_ = await ended(asked, "a")
    lines = [line async for line in asked.instances.logs(id_, limit=200)]
    assert sum(line.dropped or 1 for line in lines) == 20_000
    assert any(line.dropped for line in lines)
    assert lines[-1].text.startswith("19999 ")


async def test_a_server_that_refuses_lines_does_not_hold_the_run(home, asked, monkeypatch):
    worker = a_worker(home)

    async def refuse(self, request, patience=None):
        if request.path.endswith("/logs"):
            raise errors.NotFound(404, {"detail": "an older release", "code": "SCH_404_NOT_FOUND"}, None)
        return await once(self, request, patience)

    once = AsyncClient.once
    monkeypatch.setattr(AsyncClient, "once", refuse)

    @worker.task("T")
    async def handle(ctx):
        ctx.log("nobody hears this")

    async with working(worker):
        await asked.tasks.schedule("T", "a")
        await ended(asked, "a")


def test_waiting_lines_are_bounded_and_numbered():
    lines = AttemptLog()
    for _ in range(10_000):
        lines.add("x" * 100, "info")
    waiting = lines.waiting()
    assert 0 < waiting[0].number < 10_000
    assert len(lines) * 100 < MAX_WAITING_BYTES
    lines.drop_until(waiting[-1].number + 1)
    assert lines.waiting()[0].number == waiting[-1].number + 1
    lines.add("y" * 10_000, "a level that is far too long")
    lines.drop_until(10_000)
    [last] = lines.waiting()
    assert b"(cut)" in last.body
    assert len(last.body) < 8200


def test_a_context_without_a_worker_takes_lines_and_refuses_results_that_do_not_fit():
    now = datetime.now(UTC)
    ctx = Context(
        Work(instance_id="i", job="T", attempt=1, fire_time=now, idempotency_key="k", deadline=now, token="t"), "w"
    )
    ctx.log(object())
    assert not ctx.has_lines
    for wrong in ("x" * 65_536, object(), {1, object()}):
        with pytest.raises(ValueError, match="result"):
            ctx.set_result(wrong)
    ctx.set_result("x" * 65_000)
