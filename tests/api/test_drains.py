"""Drain and resume over HTTP: by the id that the list shows, with a reason, for those who may pause a job."""

from urllib.parse import quote

import httpx2

from horae.boot.api_server import app_of
from horae.domain.ids import shard_in
from horae.domain.targets.targets import QueueTarget
from horae.security.roles import Role
from horae.service.identity.callers import Callers
from horae.service.instances import instances
from horae.service.workers import drains
from horae.store.connections import deadlines
from horae.store.store import Store
from tests.cell_down import first_behind, mended_proxy
from tests.keyring import sealed
from tests.steps import a_job, query

WORKER = "host-1/4711 ü?"
POLL = {"queue": "q", "worker_id": WORKER, "limit": 1}
WHY = {"reason": "the host is replaced"}


def at(verb, worker_id=WORKER):
    return f"/workers/{quote(worker_id, safe='')}/{verb}"


async def test_a_worker_is_drained_and_resumed_by_the_id_that_is_listed(ctx, app, admin, client):
    worker = await client(Role.WORKER)
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await worker.post("/workers/poll", json=POLL)
    assert (await admin.post(at("drain"), json=WHY)).status_code == 404, "it is not listed yet"
    await app.state.polls.recorder.once()
    answer = await admin.post(at("drain"), json=WHY)
    assert answer.json() == {"worker_id": WORKER, "status": "DRAINED", "claimed": 0, "queues": ["q"], "cells_down": []}
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    polled = (await worker.post("/workers/poll", json=POLL)).json()
    assert (polled["items"], polled["drained"]) == ([], True)
    [listed] = (await admin.get("/workers", params={"worker": WORKER})).json()["items"]
    assert (listed["status"], listed["drain_reason"]) == ("DRAINED", WHY["reason"])
    assert listed["drained_by"].startswith("key_")
    assert listed["drained_at"]
    assert (await admin.get("/workers", params={"worker": "other"})).json()["items"] == []
    assert (await admin.post(at("resume"))).json()["status"] == "ACTIVE"
    polled = (await worker.post("/workers/poll", json=POLL)).json()
    assert len(polled["items"]) == 1
    assert "drained" not in polled, "the word is for drained workers alone"
    assert (await admin.post(f"/workers/{WORKER[:11]}/drain", json=WHY)).status_code == 404, "a slash may stand there"


async def test_only_who_may_pause_a_job_drains_a_worker_of_its_own_tenant_with_a_reason(app, admin, client, other):
    worker = await client(Role.WORKER)
    await worker.post("/workers/poll", json=POLL)
    await app.state.polls.recorder.once()
    assert (await worker.post(at("drain"), json=WHY)).status_code == 403
    for role, status in ((Role.VIEWER, 403), (Role.AUDITOR, 403), (Role.OPERATOR, 200)):
        assert (await (await client(role)).post(at("drain"), json=WHY)).status_code == status, role
    assert (await (await client(Role.ADMIN, of=other)).post(at("resume"))).status_code == 404
    assert (await admin.post(at("drain"), json={})).status_code == 422
    assert (await admin.post(at("drain"), json={"reason": ""})).status_code == 422
    found = (await admin.get("/audit", params={"action": "worker.drained"})).json()["items"]
    assert [(one["resource"], one["detail"]) for one in found] == [(WORKER, WHY)]


async def test_with_a_cell_down_the_others_know_and_a_repeated_request_tells_the_last_one(
    cells, store, ctx, settings, key, monkeypatch
):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    await a_job(ctx, "pull", target=QueueTarget("q"))
    headers = {"Authorization": f"Bearer {await key(Role.ADMIN, Role.WORKER)}"}
    home = store.cell(shard_in(ctx.tenant.id)).name
    with mended_proxy(cells) as proxy:
        reached = [cell if cell.name == home else first_behind([cell], proxy)[0] for cell in cells]
        async with Store.of(reached) as own:
            app = app_of(settings, sealed(own), Callers(own, remembered=600.0))
            transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://t/api/v1", headers=headers) as client:
                await client.post("/workers/poll", json=POLL)
                await app.state.polls.recorder.once()
                proxy.refuse()
                drained = (await client.post(at("drain"), json=WHY)).json()
                assert (drained["status"], len(drained["cells_down"])) == ("DRAINED", 1)
                polled = (await client.post("/workers/poll", json=POLL)).json()
                assert polled["drained"] is True
    marks = [len(await query(cell, "select from worker_drain")) for cell in store.cells]
    assert sorted(marks) == [0, 1]
    await drains.drain(ctx, WORKER, WHY["reason"])
    assert [len(await query(cell, "select from worker_drain")) for cell in store.cells] == [1, 1]
