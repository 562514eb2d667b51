"""Who polls, and what waits in queues: rows that every API process reads."""

import asyncio
import os
from collections import Counter
from datetime import timedelta

import asyncpg
import httpx2
import pytest

from horae.boot.api_server import app_of
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.queue_workers import POLLING_WINDOW, PollOrigin
from horae.security.roles import Role
from horae.service.identity.callers import Callers
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.workers import queues
from horae.service.workers.poll_records import PollRecorder, WorkerPoll
from horae.service.workers.polls import Polls
from horae.store.connections import deadlines
from horae.store.store import Store
from horae.store.workers import queue_workers
from horae.upkeep.queue_workers import WorkerForgetter
from tests.api.api_servers import open_doors
from tests.cell_down import WEATHERS, first_behind, mended_proxy
from tests.engine.graphs import a_graph, begin, work_step
from tests.keyring import sealed
from tests.steps import a_job, a_type, move_clock, query, until
from tests.store.walls import as_role


@pytest.fixture
def recorder(app):
    return app.state.polls.recorder


@pytest.fixture
async def worker(client):
    return await client(Role.WORKER)


async def poll(worker, queue="q", worker_id="w", **facts):
    answer = await worker.post("/workers/poll", json={"queue": queue, "worker_id": worker_id, **facts})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def workers(admin, **params):
    answer = await admin.get("/workers", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def queue(admin, name="q"):
    [one] = (await admin.get("/queues", params={"name": name})).json()["items"]
    return one


async def trigger(ctx, many=1, name="pull"):
    for n in range(many):
        await instances.trigger(ctx, name, f"{name}-{n}", even_if_down=True)


async def test_a_worker_is_listed_with_what_it_holds_and_where_it_polls_from(ctx, admin, worker, recorder):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await trigger(ctx, 3)
    assert len(await poll(worker, limit=2)) == 2
    assert await workers(admin) == [], "nothing is written before the round"
    await recorder.once()
    [one] = await workers(admin)
    assert (one["worker_id"], one["queue"], one["polling"]) == ("w", "q", True)
    assert (one["claimed"], one["wanted"]) == (2, 2)
    assert one["client"].startswith("python-httpx")
    assert one["address"] == "127.0.0.1"
    assert one["process"].endswith(f"/{os.getpid()}")
    assert one["since"] == one["polled_at"]


async def test_two_processes_and_a_worker_that_waits_at_one_is_seen_at_the_other(tmp_path, cells, store, key):
    texts = [await key(Role.WORKER), await key(Role.VIEWER)]
    async with open_doors(2, tmp_path, as_role(cells, "horae_api")) as (first, second):
        polling, watching = (
            httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{door.port}/api/v1", headers={"Authorization": f"Bearer {text}"}, timeout=90
            )
            for door, text in zip((first, second), texts, strict=True)
        )
        async with polling, watching:
            waits = asyncio.create_task(poll(polling, worker_id="host-1/7", wait=60))

            async def listed():
                return [one["worker_id"] for one in await workers(watching, polling=True)] == ["host-1/7"]

            await until(listed, 60)
            waits.cancel()  # it closes the connection, as a worker that dies does
            await move_clock(store, seconds=POLLING_WINDOW.total_seconds() + 1)

            async def only_another_is_listed():
                await poll(polling, worker_id="host-2/8")
                return [one["worker_id"] for one in await workers(watching, polling=True)] == ["host-2/8"]

            await until(only_another_is_listed, 60)


async def test_a_worker_that_dies_is_not_polling_a_minute_later_and_forgotten_after_an_hour(
    admin, worker, recorder, store
):
    await poll(worker)
    await recorder.once()
    assert [one["worker_id"] for one in await workers(admin, polling=True)] == ["w"]
    await move_clock(store, seconds=60)
    await recorder.once()
    assert await workers(admin, polling=True) == []
    [one] = await workers(admin)
    assert one["polling"] is False
    assert await WorkerForgetter(store).once() == 0, "it may come back"
    await move_clock(store, hours=1)
    assert await WorkerForgetter(store).once() == 2, "a row in each cell"
    assert await workers(admin) == []


async def test_who_waits_in_a_poll_polls_until_the_connection_is_gone(ctx, store, admin):
    polls, here = Polls(store), True

    async def there():
        return here

    waits = asyncio.create_task(polls.poll(ctx, "q", "w", wait=60, there=there))
    await until(lambda: bool(polls.recorder._waiting))
    await polls.recorder.once()
    await move_clock(store, seconds=44)
    await polls.recorder.once()
    await move_clock(store, seconds=44)
    [one] = await workers(admin)
    assert one["polling"] is True, "the poll that began 88 s ago still waits"
    assert one["since"] < one["polled_at"]
    here = False
    await polls.recorder.once()
    await move_clock(store, seconds=2)
    assert await workers(admin, polling=True) == []
    await polls.close()
    assert await waits == []
    assert not polls.recorder._waiting


async def test_a_worker_that_comes_back_polls_since_then(admin, worker, recorder, store):
    for seconds in (30, 30, 50):
        await poll(worker)
        await recorder.once()
        [one] = await workers(admin)
        before = one["since"]
        await move_clock(store, seconds=seconds)
    await poll(worker)
    await recorder.once()
    [one] = await workers(admin)
    assert one["since"] == one["polled_at"] > before


async def test_a_queue_says_what_waits_who_polls_and_which_jobs_use_it(ctx, admin, worker, recorder, store):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await a_type(ctx, "T", target=QueueTarget("q"))
    await trigger(ctx, 3)
    first = await queue(admin)
    assert (first["waiting"], first["more_waiting"], first["claimed"], first["polling"]) == (3, False, 0, 0)
    assert first["oldest_waiting_since"] is not None
    assert first["unattended"] is True
    assert first["jobs"] == ["T", "pull"]
    await poll(worker, limit=2)
    await recorder.once()
    second = await queue(admin)
    assert (second["waiting"], second["claimed"], second["polling"]) == (1, 2, 1)
    assert second["unattended"] is False
    await move_clock(store, seconds=60)
    third = await queue(admin)
    assert (third["polling"], third["unattended"]) == (0, False), "its worker is busy"
    assert third["polled_at"] == second["polled_at"]


async def test_a_paused_job_waits_for_no_worker(ctx, admin):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await trigger(ctx, 2)
    await jobs.pause(ctx, "pull")
    found = await queue(admin)
    assert (found["waiting"], found["unattended"]) == (0, False)


async def test_queues_of_jobs_of_workers_and_of_what_is_left_are_listed_page_by_page(ctx, admin, worker, recorder):
    for name in ("a", "ä", "B"):
        await a_job(ctx, name, target=QueueTarget(name))
    for n in range(3):
        await a_job(ctx, f"more-{n}", target=QueueTarget("shared"))
    await a_job(ctx, "moved", target=QueueTarget("old"))
    await trigger(ctx, 1, "moved")
    job = (await admin.get("/jobs/moved")).json()
    moved = {"version": job["version"], "cron": "0 0 0 1 1 ?", "target": {"kind": "queue", "name": "new"}}
    assert (await admin.put(f"/jobs/{job['id']}", json=moved)).status_code == 200
    for queue_name in ("polled", "a"):
        await poll(worker, queue_name)
    await recorder.once()
    names, cursor = [], None
    while True:
        page = (await admin.get("/queues", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        names += [one["name"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert names == ["B", "a", "new", "old", "polled", "shared", "ä"]
    left = await queue(admin, "old")
    assert (left["waiting"], left["jobs"], left["unattended"]) == (1, [], True)


async def test_workers_are_listed_page_by_page_and_by_queue(admin, worker, recorder):
    for n in range(5):
        await poll(worker, f"q{n % 2}", f"w{n}")
    await recorder.once()
    found, cursor = [], None
    while True:
        page = (await admin.get("/workers", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        found += [(one["queue"], one["worker_id"]) for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == [("q0", "w0"), ("q0", "w2"), ("q0", "w4"), ("q1", "w1"), ("q1", "w3")]
    assert [one["worker_id"] for one in await workers(admin, queue="q1")] == ["w1", "w3"]


async def test_a_tenant_sees_its_own_workers_and_queues_only(ctx, admin, worker, recorder, client, other):
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await trigger(ctx)
    await poll(worker)
    theirs = await client(Role.WORKER, of=other)
    await poll(theirs, worker_id="theirs")
    await recorder.once()
    stranger = await client(Role.VIEWER, of=other)
    assert [one["worker_id"] for one in await workers(stranger)] == ["theirs"]
    assert [one["worker_id"] for one in await workers(admin)] == ["w"]
    [one] = (await stranger.get("/queues")).json()["items"]
    assert (one["name"], one["waiting"], one["claimed"], one["polling"], one["jobs"]) == ("q", 0, 0, 1, [])
    for path in ("/workers", "/queues"):
        assert (await worker.get(path)).status_code == 403, "a worker works"


@pytest.mark.parametrize("weather", WEATHERS)
async def test_with_one_cell_down_the_lists_have_what_there_is_and_name_the_cell(
    cells, store, ctx, settings, key, monkeypatch, weather
):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    await a_job(ctx, "pull", target=QueueTarget("q"))
    headers = {"Authorization": f"Bearer {await key(Role.ADMIN, Role.WORKER)}"}
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy)) as own:
            app = app_of(settings, sealed(own), Callers(own, remembered=600.0))
            transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://t/api/v1", headers=headers) as client:
                await poll(client)
                await app.state.polls.recorder.once()
                getattr(proxy, weather)()
                for path in ("/workers", "/queues"):
                    found = (await client.get(path)).json()
                    assert found["cells_down"] == ["cell-0"], path
                assert [one["worker_id"] for one in (await client.get("/workers")).json()["items"]] == ["w"]
                assert (await queue(client))["polling"] == 1, "every cell knows every worker"
                await poll(client, worker_id="v")
                await app.state.polls.recorder.once()
                assert [one["worker_id"] for one in (await client.get("/workers")).json()["items"]] == ["v", "w"]


async def test_a_thousand_workers_cost_two_statements_a_round_however_often_they_poll(ctx, store, monkeypatch):
    recorder, sent = PollRecorder(store), Counter()
    for way in ("fetch", "fetchrow", "fetchval", "execute"):
        whole = getattr(asyncpg.Connection, way)

        def counting(self, asked, *args, whole=whole, **facts):
            sent["queue_worker" in asked] += 1
            return whole(self, asked, *args, **facts)

        monkeypatch.setattr(asyncpg.Connection, way, counting)
    of_round = []
    for _ in range(3):
        sent.clear()
        for number in range(10_000):
            note = WorkerPoll(ctx.tenant.id, "q", f"w{number % 1000}", 1, PollOrigin())
            recorder.note(note, store.clock.now())
        assert not sent, "a poll itself writes nothing"
        await recorder.once()
        of_round.append(sent[True])
    assert of_round == [4, 2, 2], "one in each cell; where somebody is new, one more that keeps the bound"
    [row] = await query(store.cells[0], "select count(*) as many from queue_worker")
    assert row["many"] == 1000


async def test_a_tenant_has_a_bounded_number_of_rows_and_the_latest_stay(ctx, store, monkeypatch):
    monkeypatch.setattr(queue_workers, "MAX_WORKERS_PER_TENANT", 3)
    recorder = PollRecorder(store)
    for number in range(8):
        await move_clock(store, seconds=1)
        recorder.note(WorkerPoll(ctx.tenant.id, "q", f"w{number}", 1, PollOrigin()), store.clock.now())
        await recorder.once()
    for cell in store.cells:
        rows = await query(cell, "select worker_id from queue_worker order by 1")
        assert [row["worker_id"] for row in rows] == ["w5", "w6", "w7"]


async def test_what_cannot_be_a_name_is_refused_and_leaves_no_row(worker, admin, recorder, store):
    answer = await worker.post("/workers/poll", json={"queue": "q", "worker_id": "w\n"})
    assert answer.status_code == 422, answer.text
    await worker.post("/workers/poll", json={"queue": "q\n", "worker_id": "w"})
    await recorder.once()
    assert await query(store.cells[0], "select from queue_worker") == []
    for path in ("/workers?queue=%0A", "/queues?name=%0A"):
        assert (await admin.get(path)).status_code == 422


async def unattended(store, seconds):
    return {one.name for one in await queues.find_unattended(store, timedelta(seconds=seconds))}


async def test_queues_that_nobody_has_polled_for_a_while_are_found_over_all_tenants(
    ctx, store, worker, recorder, other, client, monkeypatch
):
    monkeypatch.setattr(queues, "QUEUES_PER_LOOK", 2)
    for name in ("busy", "idle", "lonely", "paused", "polled"):
        await a_job(ctx, name, target=QueueTarget(name))
    for name in ("busy", "lonely", "paused", "polled"):
        await trigger(ctx, 3, name)
    await jobs.pause(ctx, "paused")
    await poll(worker, "busy", limit=1)
    await recorder.once()
    assert await unattended(store, 60) == set(), "nothing has waited for so long"
    await move_clock(store, seconds=90)
    await poll(worker, "polled", "w", limit=1)
    stranger = await client(Role.WORKER, of=other)
    await poll(stranger, "lonely")
    await recorder.once()
    assert await unattended(store, 60) == {"lonely"}, "a worker of another tenant does not help"


async def test_a_worker_that_is_busy_with_work_of_one_cell_attends_the_queue_in_the_other(ctx, store, worker, recorder):
    names = {}
    for number in range(50):
        job = await a_job(ctx, f"j{number}", target=QueueTarget("shared"))
        names.setdefault(store.cell(job.shard).name, job.name)
        if len(names) == 2:
            break
    first, second = names.values()
    await trigger(ctx, 1, first)
    assert len(await poll(worker, "shared", limit=1)) == 1
    await trigger(ctx, 1, second)
    await recorder.once()
    await move_clock(store, seconds=90)
    assert await unattended(store, 60) == set()


async def test_the_queue_from_which_nodes_take_runs_of_graphs_is_no_ones_to_poll_and_is_not_listed(ctx, admin, store):
    await a_graph(ctx, [work_step("a")])
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await begin(ctx)
    await trigger(ctx)
    await move_clock(store, seconds=90)
    pages = [(await admin.get("/queues", params={"limit": limit})).json() for limit in (1, 10)]
    assert [page["items"][0]["name"] for page in pages] == ["q", "q"]
    assert [one["name"] for one in pages[1]["items"]] == ["q", "work"]
    after = (await admin.get("/queues", params={"limit": 1, "cursor": pages[0]["next"]})).json()
    assert [one["name"] for one in after["items"]] == ["work"]
    assert await unattended(store, 60) == {"q"}, "nodes take the run"
