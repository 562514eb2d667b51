"""Lines over HTTP: pages and server-sent events, through a restart, and never of another tenant."""

import asyncio
import socket

import pytest

from horae.boot.api_server import api_server
from horae.domain.targets.targets import QueueTarget
from horae.security.roles import Role
from horae.service.tasks import tasks
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from horae_client import AsyncClient
from tests.steps import a_type

LINE = {"at": "2026-11-18T08:00:00Z", "text": "a", "level": "info"}


@pytest.fixture
async def held(ctx, store):
    """An attempt in the hands of a worker."""
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=300))
    await Copier(store).once()
    await tasks.schedule(ctx, "MAIL", "a")
    [one] = await workers.claim(ctx, "mail", "w")
    return {"instance_id": one.public_id, "attempt": 1, "token": one.token}


async def log(worker, held, *texts, **more):
    item = held | {"lines": [LINE | {"text": text} for text in texts]} | more
    [answer] = (await worker.post("/workers/logs", json={"items": [item]})).json()["items"]
    return answer


def texts(page):
    return [line["text"] or -line["dropped"] for line in page["items"]]


async def test_lines_are_appended_and_read_in_pages(client, held):
    worker, reader = await client(Role.WORKER), await client(Role.OPERATOR)
    assert (await log(worker, held, "a", "b", first=0))["verdict"] == "done"
    assert (await log(worker, held, "d", first=3))["verdict"] == "done"
    address = f"/instances/{held['instance_id']}/logs"
    first = (await reader.get(address, params={"limit": 2})).json()
    rest = (await reader.get(address, params={"limit": 2, "cursor": first["next"]})).json()
    assert texts(first) + texts(rest) == ["a", "b", -1, "d"]
    assert rest["next"] is None


async def test_an_invalid_batch_is_refused_alone_and_says_why(client, held):
    worker = await client(Role.WORKER)
    good, bad = held | {"lines": [LINE]}, held | {"lines": [LINE | {"text": "x" * 8001}]}
    answers = (await worker.post("/workers/logs", json={"items": [bad, good]})).json()["items"]
    assert [one["verdict"] for one in answers] == ["invalid", "done"]
    assert answers[0]["code"] == "SCH_422_INVALID"
    assert (await log(worker, held | {"token": "x"}, "a"))["status"] == 409


async def test_a_result_that_is_too_large_is_refused_with_a_code_and_the_attempt_can_still_be_finished(client, held):
    worker, reader = await client(Role.WORKER), await client(Role.OPERATOR)
    [answer] = (await worker.post("/workers/finish", json={"items": [held | {"result": "x" * 70_000}]})).json()["items"]
    assert (answer["verdict"], answer["status"], answer["code"]) == ("invalid", 422, "SCH_422_RESULT_SIZE")
    address = f"/instances/{held['instance_id']}/result"
    assert (await reader.get(address)).status_code == 404
    [answer] = (await worker.post("/workers/finish", json={"items": [held | {"result": {"sent": 3}}]})).json()["items"]
    assert answer["verdict"] == "done"
    assert (await reader.get(address)).json() == {"instance_id": held["instance_id"], "result": {"sent": 3}}


async def test_only_those_who_may_read_payloads_read_lines_and_results(client, held, other):
    await log(await client(Role.WORKER), held, "a")
    paths = [f"/instances/{held['instance_id']}/{rest}" for rest in ("logs", "logs/tail", "result")]
    viewer, stranger = await client(Role.VIEWER), await client(Role.ADMIN, of=other)
    assert [(await viewer.get(path)).status_code for path in paths] == [403] * 3
    assert [(await stranger.get(path)).status_code for path in paths] == [404] * 3


async def test_an_event_carries_the_id_to_continue_after(client, held):
    worker, reader = await client(Role.WORKER), await client(Role.OPERATOR)
    await log(worker, held, "a", "b")
    await worker.post("/workers/finish", json={"items": [held]})
    address = f"/instances/{held['instance_id']}/logs/tail"
    whole = await reader.get(address)
    assert whole.headers["content-type"].startswith("text/event-stream")
    assert whole.text.count("event: line") == 2
    assert whole.text.endswith('event: end\ndata: {"state":"SUCCESS"}\n\n')
    rest = await reader.get(address, headers={"Last-Event-ID": "1.1"})
    assert [line for line in rest.text.splitlines() if line.startswith("id:")] == ["id: 1.2"]
    assert (await reader.get(address, headers={"Last-Event-ID": "nonsense"})).status_code == 422


async def test_a_tail_goes_on_after_the_api_process_was_restarted(settings, doors, key, held):
    """Every line once, although the server goes away in the middle."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = settings.model_copy(update={"api_port": port, "api_host": "127.0.0.1"})
    reader, worker = await key(Role.OPERATOR), await key(Role.WORKER)
    address = f"http://127.0.0.1:{port}"
    heard: list[str | None] = []

    async def follow():
        async with AsyncClient(address, reader) as client:
            async for line in client.instances.tail(held["instance_id"]):
                heard.append(line.text)  # noqa: PERF401 - one by one

    async def say(text, number):
        async with AsyncClient(address, worker) as client:
            await client.workers.log([held | {"first": number, "lines": [LINE | {"text": text}]}])

    async with api_server(settings, doors):
        await say("before", 0)
        following = asyncio.create_task(follow())
        while not heard:
            await asyncio.sleep(0.01)
    async with api_server(settings, doors):
        await say("after", 1)
        while len(heard) < 2:
            await asyncio.sleep(0.01)
        async with AsyncClient(address, worker) as client:
            await client.workers.finish([held])
        await following
    assert heard == ["before", "after"]
