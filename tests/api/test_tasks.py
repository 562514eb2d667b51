from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.security.roles import Role
from horae.service.instances import replays
from tests.steps import claim_everywhere, query, settle

AT = "2030-01-01T08:00:00+08:00"
UTC_AT = "2030-01-01T00:00:00Z"


@pytest.fixture
async def publish(admin):
    made = await admin.post("/jobs", json={"name": "PUBLISH", "trigger": {"kind": "keyed"}})
    assert made.status_code == 201
    return admin


async def test_a_put_says_what_it_decided(publish, store):
    created = (await publish.put("/tasks/PUBLISH/article-42", json={"at": AT, "payload": {"title": "x"}})).json()
    assert created["decision"] == "created"
    assert created["revision"] == 1
    assert created["at"] == UTC_AT
    assert created["instance_id"].startswith("ins_")
    assert set(created) == {"decision", "revision", "at", "instance_id"}
    moved = (await publish.put("/tasks/PUBLISH/article-42", json={})).json()
    assert (moved["decision"], moved["instance_id"]) == ("moved", created["instance_id"])
    await claim_everywhere(store)
    [row] = await query(store, "select * from instance_live")
    assert set(row["payload"]) == {"$sealed"}, "it was kept, and lies sealed"


async def test_a_key_is_shown_with_its_ledger(publish):
    await publish.put("/tasks/PUBLISH/article-42", json={"at": AT, "payload": {"title": "x"}, "version": 3})
    await publish.put("/tasks/PUBLISH/article-42", json={"at": AT, "version": 2})
    shown = (await publish.get("/tasks/PUBLISH/article-42")).json()
    assert (shown["type"], shown["key"], shown["generation"], shown["revision"]) == ("PUBLISH", "article-42", 1, 2)
    assert (shown["version"], shown["outcome"]) == (3, None)
    assert (shown["live"]["state"], shown["live"]["at"], shown["live"]["payload"]) == ("INIT", UTC_AT, {"title": "x"})
    assert [(line["decision"], line.get("reason")) for line in shown["decisions"]] == [
        ("created", None),
        ("ignored", "stale"),
    ]
    assert shown["decisions"][0]["by"].startswith("key_")
    assert (await publish.get("/tasks/PUBLISH/other")).json()["code"] == "SCH_404_NOT_FOUND"
    assert (await publish.get("/tasks/OTHER/article-42")).json()["code"] == "SCH_404_NOT_FOUND"


async def test_every_time_of_a_ledger_is_written_alike_whoever_wrote_it(admin, ctx, store):
    """TRIAL 2: what SQL had written said +00:00, what Python had written said Z."""
    target = {"kind": "http", "url": "https://example.com/"}
    await admin.post("/jobs", json={"name": "CALL", "trigger": {"kind": "keyed"}, "target": target})
    await admin.put("/tasks/CALL/article-42", json={})
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "answered 400"))
    await replays.replay(ctx, ran.id)
    shown = (await admin.get("/tasks/CALL/article-42")).json()
    assert [line["decision"] for line in shown["decisions"]] == ["created", "replayed"]
    times = [line[name] for line in shown["decisions"] for name in ("on", "at")]
    assert {time[-1] for time in times} == {"Z"}


async def test_a_delete_cancels_and_says_so(publish):
    await publish.put("/tasks/PUBLISH/a", json={"at": AT, "version": 5})
    assert (await publish.delete("/tasks/PUBLISH/a?version=4")).json()["reason"] == "stale"
    assert (await publish.delete("/tasks/PUBLISH/a")).json()["decision"] == "cancelled"
    assert (await publish.get("/tasks/PUBLISH/a")).json()["outcome"] == "CANCELLED"
    assert (await publish.delete("/tasks/PUBLISH/never")).status_code == 404


@pytest.mark.parametrize("name", ["a/b", "a%2Fb", "a b", "文章-42", "a?b=c", "100%", "cancel", "tasks/x/cancel"])
async def test_a_key_may_be_written_as_the_business_writes_it(publish, name):
    path = "/tasks/PUBLISH/" + (name if name == "a/b" else quote(name, safe=""))
    assert (await publish.put(path, json={"at": AT})).json()["decision"] == "created"
    assert (await publish.get(path)).json()["key"] == name
    assert (await publish.delete(path)).json()["decision"] == "cancelled"


async def test_a_batch_is_answered_item_by_item(publish):
    tasks = [
        {"key": "a", "at": AT, "payload": 1},
        {"key": "b", "at": "9999-12-31T23:59:59Z"},
        {"key": "c\u007f", "at": AT},
        {"key": "a", "at": AT},
        {"key": "d", "payload": "x" * 70_000},
    ]
    answer = await publish.put("/tasks/PUBLISH", json={"tasks": tasks})
    assert answer.status_code == 200
    items = answer.json()["items"]
    assert [item["key"] for item in items] == [task["key"] for task in tasks]
    assert items[0]["answer"]["decision"] == "created"
    assert items[3]["answer"] == items[0]["answer"] | {"decision": "moved", "revision": 2}
    for item in (items[1], items[2], items[4]):
        assert set(item) == {"key", "problem"}
        assert (item["problem"]["status"], item["problem"]["code"]) == (422, "SCH_422_INVALID")
    gone = await publish.post("/tasks/PUBLISH/cancel", json={"tasks": [{"key": "a"}, {"key": "never"}]})
    first, never = gone.json()["items"]
    assert first["answer"]["decision"] == "cancelled"
    assert never["problem"]["code"] == "SCH_404_NOT_FOUND"
    assert (await publish.put("/tasks/NOTHING", json={"tasks": []})).status_code == 404
    assert (await publish.put("/tasks/PUBLISH", json={"tasks": []})).json() == {"items": []}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/tasks/PUBLISH/a", [], 422),
        ("/tasks/PUBLISH/a", {"unknown": 1}, 422),
        ("/tasks/PUBLISH/a", {"at": 5}, 422),
        ("/tasks/PUBLISH/a", {"at": "2030-01-01T00:00:00"}, 422),
        ("/tasks/PUBLISH/a", {"at": "1969-12-31T00:00:00Z"}, 422),
        ("/tasks/PUBLISH/a", {"version": "1"}, 422),
        ("/tasks/PUBLISH/a", {"version": 1.5}, 422),
        ("/tasks/PUBLISH/a", {"payload": "\u0000"}, 400),
        ("/tasks/PUBLISH/a", {"payload": 2**63}, 400),
        ("/tasks/PUBLISH/" + "x" * 201, {}, 422),
        ("/tasks/PUBLISH", {}, 422),
        ("/tasks/PUBLISH", {"tasks": [{"at": AT}]}, 422),
        ("/tasks/PUBLISH", {"tasks": [{"key": "a", "more": 1}]}, 422),
        ("/tasks/PUBLISH", {"tasks": [{"key": "a"}] * 1001}, 422),
    ],
)
async def test_what_cannot_be_meant_is_refused_as_a_whole(publish, store, path, body, status):
    answer = await publish.put(path, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert await query(store, "select * from task_key") == []


async def test_tasks_of_others_do_not_exist(publish, client, other):
    await publish.put("/tasks/PUBLISH/a", json={"at": AT})
    stranger = await client(Role.ADMIN, of=other)
    for method, path, body in (
        ("PUT", "/tasks/PUBLISH/a", {}),
        ("GET", "/tasks/PUBLISH/a", None),
        ("DELETE", "/tasks/PUBLISH/a", None),
        ("PUT", "/tasks/PUBLISH", {"tasks": [{"key": "a"}]}),
        ("POST", "/tasks/PUBLISH/cancel", {"tasks": [{"key": "a"}]}),
    ):
        answer = await stranger.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "SCH_404_NOT_FOUND")
    assert (await publish.get("/tasks/PUBLISH/a")).json()["revision"] == 1


async def test_hot_routes_pass_the_same_gate(publish, client, anyone):
    viewer = await client(Role.VIEWER)
    assert (await viewer.put("/tasks/PUBLISH/a", json={})).status_code == 403
    assert (await viewer.put("/tasks/PUBLISH", json={"tasks": []})).status_code == 403
    assert (await anyone.put("/api/v1/tasks/PUBLISH/a", json={})).status_code == 401
    answer = await publish.put("/tasks/PUBLISH/a", json={"at": AT})
    assert "RateLimit" in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert (
        await publish.put("/tasks/PUBLISH/a", content=b"{}", headers={"Content-Type": "text/plain"})
    ).status_code == 415
    assert (await publish.put("/tasks/PUBLISH/a", content=b"x" * 300_000)).status_code == 413


async def test_the_document_knows_what_hot_routes_take_and_say(anyone):
    document = (await anyone.get("/openapi.json")).json()
    put = document["paths"]["/api/v1/tasks/{type}/{key}"]["put"]
    assert put["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/PutTask"}
    assert put["x-horae-action"] == "tasks.put"
    schemas = document["components"]["schemas"]
    assert schemas["PutTask"]["additionalProperties"] is False
    assert schemas["PutTasks"]["properties"]["tasks"]["maxItems"] == 1000
    assert set(schemas["TaskAnswer"]["required"]) == {"decision", "revision"}


async def test_a_job_that_fires_once_is_its_own_key(admin):
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    await admin.post("/jobs", json={"name": "one", "trigger": {"kind": "once", "at": soon}})
    assert (await admin.put("/tasks/one/self", json={"at": AT})).json()["decision"] == "moved"
