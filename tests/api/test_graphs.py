"""Graphs over HTTP: create, read, change, and intervene in a run."""

from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from horae.domain.ids import Prefix, public
from horae.security.roles import Role
from horae.service.graphs import runs
from tests.catcher import catching
from tests.engine.graphs import begin
from tests.nodes import node_in
from tests.steps import query

TTL = timedelta(seconds=30)


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


def call(url, name, *needs, **facts):
    target = {"kind": "http", "url": f"{url}/{name}"}
    return {"name": name, "needs": list(needs), "target": target, "retry": {"max_failures": 1}} | facts


@asynccontextmanager
async def draining(store):
    node = node_in(store, "n", TTL)
    try:
        yield node.drain
    finally:
        await node.leave()


def refuse(catcher, *names):
    catcher.answer = lambda arrival: 400 if arrival.path.strip("/") in names else 200


async def trigger(ctx, key="k"):
    return public(Prefix.INSTANCE, await begin(ctx, "nightly", key))


async def states(client, run):
    found = (await client.get(f"/graph-runs/{run}")).json()
    return found["state"], {step["name"]: step["state"] for step in found["steps"]}


async def test_a_graph_is_created_with_its_steps_in_order_and_all_defaults(admin):
    body = {
        "name": "nightly",
        "cron": "0 2 * * *",
        "priority": "low",
        "run_deadline": 7200,
        "steps": [
            {"name": "load", "needs": ["extract"], "rule": "none_failed", "payload": {"table": "orders"}},
            {"name": "extract", "target": {"kind": "http", "url": "https://example.com/x"}, "priority": "critical"},
        ],
    }
    made = await admin.post("/jobs", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["run_deadline"] == 7200
    extract, load = (await admin.get("/jobs/nightly")).json()["steps"]
    assert (extract["name"], extract["needs"], extract["rule"]) == ("extract", [], "all_success")
    assert (extract["target"]["url"], extract["priority"]) == ("https://example.com/x", "critical")
    assert (load["needs"], load["rule"], load["payload"]) == (["extract"], "none_failed", {"table": "orders"})
    assert load["target"] == {"kind": "queue", "name": "nightly.load"}, "a step without a target waits in its queue"
    assert (load["priority"], load["retry"]["max_failures"]) == ("low", 6)
    assert made.json()["steps"] == [extract, load]
    [listed] = (await admin.get("/jobs")).json()["items"]
    assert (listed["name"], listed["steps"], listed["run_deadline"]) == ("nightly", None, 7200)
    shown = (await admin.post("/preview", json=body | {"name": "other"})).json()
    assert [step["name"] for step in shown["steps"]] == ["extract", "load"]


A = {"name": "a"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"steps": [{"name": "a", "needs": ["b"]}, {"name": "b", "needs": ["a"]}]}, "in a circle: a, b"),
        ({"steps": [{"name": "a", "needs": ["z"]}]}, "needs 'z', which is not a step of this graph"),
        ({"steps": [A, A]}, "two steps have the name 'a'"),
        ({"steps": []}, "at least 1 item"),
        ({"steps": [{"name": f"s{n}"} for n in range(1001)]}, "at most 1000 items"),
        ({"steps": [{"name": "a b"}]}, "must match"),
        ({"steps": [A], "target": {"kind": "queue", "name": "q"}}, "target belongs to the steps"),
        ({"steps": [A], "payload": 1}, "payload belong to the steps"),
        ({"steps": [A], "retry": {"max_failures": 1}}, "retry belongs to the steps"),
        ({"steps": [A], "trigger": {"kind": "keyed"}}, "a graph fires by cron, at intervals or by hand"),
        ({"steps": [{"name": "a", "quotas": ["q"]}]}, "step 'a': limit and quotas hold for calls"),
        ({"steps": [{"name": "a", "rule": "all_done"}]}, "the rule all_done has no effect"),
        ({"run_deadline": 5}, "run_deadline belongs to a graph"),
        ({"steps": [A], "run_deadline": 0.5}, "must be at least 1"),
        ({"steps": [A | {"trigger": {"kind": "manual"}}]}, "trigger"),
    ],
)
async def test_a_graph_that_cannot_run_is_refused_in_plain_words(admin, body, said):
    for path in ("/jobs", "/preview"):
        answer = await admin.post(path, json={"name": "nightly"} | body)
        assert (answer.status_code, said in answer.text) == (422, True), answer.text
    assert (await admin.get("/jobs")).json()["items"] == []


async def test_a_graph_of_a_thousand_steps_is_created_changed_and_removed(admin):
    steps = [{"name": f"s{n}", "needs": [f"s{n // 2}"] if n else []} for n in range(1000)]
    assert (await admin.post("/jobs", json={"name": "big", "steps": steps})).status_code == 201
    found = (await admin.get("/jobs/big")).json()
    assert [step["name"] for step in found["steps"]][:4] == ["s0", "s1", "s2", "s3"]
    fewer = [step | {"payload": 1} for step in steps[:500]]
    changed = await admin.put("/jobs/big", json={"version": 1, "steps": fewer})
    assert (changed.status_code, len(changed.json()["steps"])) == (200, 500), changed.text
    assert (await admin.delete("/jobs/big")).status_code == 200


async def test_a_run_is_read_with_its_steps_and_a_person_lets_it_go_on(admin, ctx, store, catcher):
    url = catcher.url
    refuse(catcher, "extract")
    await admin.post("/jobs", json={"name": "nightly", "steps": [call(url, "extract"), call(url, "load", "extract")]})
    run = await trigger(ctx)
    async with draining(store) as drain:
        await drain()
        found = (await admin.get(f"/graph-runs/{run}")).json()
        assert (found["state"], found["blocked"], found["job_version"]) == ("OPEN", True, 1)
        extract, load = found["steps"]
        assert (extract["state"], extract["reason"], extract["generation"]) == ("DEAD", "HTTP_4XX", 0)
        assert (load["state"], load["needs"], load["instance_id"]) == ("BLOCKED", ["extract"], None)
        attempts = (await admin.get(f"/instances/{extract['instance_id']}")).json()["attempts"]
        assert [one["code"] for one in attempts] == ["HTTP_4XX"], "a step's instance is read as any other"
        [listed] = (await admin.get("/jobs/nightly/graph-runs")).json()["items"]
        assert {**listed, "steps": found["steps"]} == found
        refuse(catcher)
        again = {"headers": {"Idempotency-Key": "again"}}
        done = await admin.post(f"/graph-runs/{run}/steps/extract/retry", **again)
        assert [step["state"] for step in done.json()["steps"]] == ["WAITING", "WAITING"]
        repeated = await admin.post(f"/graph-runs/{run}/steps/extract/retry", **again)
        assert (repeated.json(), repeated.headers["Idempotency-Replayed"]) == (done.json(), "true")
        await drain()
    assert await states(admin, run) == ("SUCCESS", {"extract": "SUCCESS", "load": "SUCCESS"})
    late = await admin.post(f"/graph-runs/{run}/steps/extract/skip")
    assert (late.status_code, "has ended" in late.json()["detail"]) == (409, True)


@pytest.mark.parametrize(("action", "state"), [("skip", "WAIVED"), ("succeed", "SUCCESS")])
async def test_a_step_is_skipped_or_marked_as_succeeded(admin, ctx, store, catcher, action, state):
    refuse(catcher, "a")
    await admin.post("/jobs", json={"name": "nightly", "steps": [call(catcher.url, "a"), call(catcher.url, "b", "a")]})
    run = await trigger(ctx)
    async with draining(store) as drain:
        await drain()
        assert (await admin.post(f"/graph-runs/{run}/steps/a/{action}")).status_code == 200
        await drain()
    assert await states(admin, run) == ("SUCCESS", {"a": state, "b": "SUCCESS"})


async def test_cancelling_the_instance_cancels_the_run(admin, ctx, store, catcher):
    refuse(catcher, "a")
    await admin.post("/jobs", json={"name": "nightly", "steps": [call(catcher.url, "a"), call(catcher.url, "b", "a")]})
    run = await trigger(ctx)
    async with draining(store) as drain:
        await drain()
        assert (await admin.post(f"/instances/{run}/cancel")).status_code == 200
        await drain()
    assert await states(admin, run) == ("CANCELLED", {"a": "DEAD", "b": "CANCELLED"})


async def test_a_run_goes_on_with_the_version_it_began_with(admin, ctx, store, catcher):
    url = catcher.url
    refuse(catcher, "a")
    first = [call(url, "a"), call(url, "dropped", "a"), call(url, "kept", "a")]
    await admin.post("/jobs", json={"name": "nightly", "steps": first})
    old = await trigger(ctx, "old")
    async with draining(store) as drain:
        await drain()
        refuse(catcher)
        second = [call(url, "a"), call(url, "new", "a"), call(url, "kept", "new", payload={"version": 2})]
        changed = await admin.put("/jobs/nightly", json={"version": 1, "steps": second})
        assert (changed.status_code, changed.json()["version"]) == (200, 2), changed.text
        third = [*second, call(url, "more")]
        assert (await admin.put("/jobs/nightly", json={"version": 2, "steps": third})).status_code == 200
        new = await trigger(ctx, "new")
        await drain()
        assert await states(admin, new) == ("SUCCESS", dict.fromkeys(["a", "new", "kept", "more"], "SUCCESS"))
        assert [arrival.payload for arrival in catcher.of("/kept")] == [{"version": 2}]
        await admin.post(f"/graph-runs/{old}/steps/a/retry")
        await drain()
    assert await states(admin, old) == ("SUCCESS", dict.fromkeys(["a", "dropped", "kept"], "SUCCESS"))
    assert len(catcher.of("/dropped")) == 1, "the dropped step still ran for the run of the version that had it"
    assert [arrival.payload for arrival in catcher.of("/kept")] == [{"version": 2}, None], "with the old payload"


async def test_step_jobs_of_dropped_steps_are_removed_when_no_run_needs_them(admin, store):
    async def living():
        found = await query(store, "select name from job where status <> 'REMOVED' and name like '%/%'")
        return sorted(row["name"] for row in found)

    await admin.post("/jobs", json={"name": "nightly", "steps": [A, {"name": "b"}]})
    await admin.put("/jobs/nightly", json={"version": 1, "steps": [A]})
    assert await living() == ["nightly/a", "nightly/b"], "kept for one version"
    await admin.put("/jobs/nightly", json={"version": 2, "steps": [A, {"name": "c"}]})
    assert await living() == ["nightly/a", "nightly/c"]
    await admin.put("/jobs/nightly", json={"version": 3, "steps": [A]})
    await admin.put("/jobs/nightly", json={"version": 4, "steps": [A, {"name": "c", "payload": 1}]})
    assert await living() == ["nightly/a", "nightly/c"], "a step that comes back has its step job again"
    await admin.delete("/jobs/nightly")
    assert await living() == []


async def test_a_graph_stays_a_graph_and_a_job_stays_a_job(admin):
    await admin.post("/jobs", json={"name": "nightly", "steps": [A]})
    await admin.post("/jobs", json={"name": "plain"})
    without = await admin.put("/jobs/nightly", json={"version": 1})
    assert (without.status_code, "lists its steps" in without.text) == (422, True)
    graph = await admin.put("/jobs/plain", json={"version": 1, "steps": [A]})
    assert (graph.status_code, "cannot become a graph" in graph.text) == (422, True)
    assert (await admin.get("/jobs/plain/graph-runs")).status_code == 404
    labelled = await admin.patch("/jobs/nightly/labels", json={"labels": {"team": "data"}})
    assert labelled.status_code == 200
    assert [step["name"] for step in (await admin.get("/jobs/nightly")).json()["steps"]] == ["a"]


async def test_a_viewer_reads_runs_and_an_operator_changes_them_and_others_see_nothing(
    admin, ctx, client, store, other
):
    await admin.post("/jobs", json={"name": "nightly", "steps": [A, {"name": "b", "needs": ["a"]}]})
    run = await trigger(ctx)
    async with draining(store) as drain:
        await drain()
    viewer, operator = await client(Role.VIEWER), await client(Role.OPERATOR)
    assert (await states(viewer, run))[1] == {"a": "RELEASED", "b": "WAITING"}
    assert (await viewer.post(f"/graph-runs/{run}/steps/b/skip")).status_code == 403
    assert (await operator.post(f"/graph-runs/{run}/steps/b/skip")).status_code == 200
    stranger = await client(Role.ADMIN, of=other)
    for answer in (
        await stranger.get(f"/graph-runs/{run}"),
        await stranger.post(f"/graph-runs/{run}/steps/b/succeed"),
        await stranger.get("/jobs/nightly/graph-runs"),
        await operator.post(f"/graph-runs/{run}/steps/nothing/skip"),
    ):
        assert answer.status_code == 404, answer.text


async def test_runs_come_in_pages(admin, ctx, store):
    await admin.post("/jobs", json={"name": "nightly", "steps": [A]})
    made = [await trigger(ctx, str(n)) for n in range(3)]
    async with draining(store) as drain:
        await drain()
    first = (await admin.get("/jobs/nightly/graph-runs?limit=2")).json()
    rest = (await admin.get("/jobs/nightly/graph-runs", params={"limit": 2, "cursor": first["next"]})).json()
    assert [run["id"] for run in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["next"] is None


async def test_a_plan_shows_the_difference_of_steps_and_applies_it(admin):
    def source(*steps, **facts):
        return {"owner": "data", "jobs": {"nightly": {"cron": "0 2 * * *", "steps": list(steps)} | facts}}

    extract, load = {"name": "extract", "payload": {"day": 1}}, {"name": "load", "needs": ["extract"]}
    done = (await admin.post("/plans/apply", json=source(extract, load))).json()["done"]
    assert [(one["step"], one["code"]) for one in done] == [("create", None)]
    assert (await admin.post("/plans", json=source(load, extract))).json()["counts"] == {"keep": 1}, "in any order"
    changed = source(extract | {"payload": {"day": 2}}, load | {"rule": "all_done"}, {"name": "more"}, run_deadline=60)
    [step] = (await admin.post("/plans", json=changed)).json()["steps"]
    found = {field["path"]: (field["before"], field["after"]) for field in step["fields"]}
    assert found.pop("steps.more")[0] is None
    assert found == {
        "run_deadline": (86400, 60),
        "steps.extract.payload.day": (1, 2),
        "steps.load.rule": ("all_success", "all_done"),
    }
    await admin.post("/plans/apply", json=changed)
    assert (await admin.post("/plans", json=changed)).json()["counts"] == {"keep": 1}
    assert (await admin.get("/jobs/nightly")).json()["version"] == 2
    circle = source(extract | {"needs": ["load"]}, load)
    [refused] = (await admin.post("/plans", json=circle)).json()["steps"]
    assert (refused["step"], "in a circle" in refused["reason"]) == ("refused", True)


async def test_a_mapped_step_is_created_shown_and_runs_for_each_element(admin, ctx, store, catcher):
    each = {"$run": "payload", "path": "customers"}
    steps = [
        call(catcher.url, "notify", each=each, concurrency=2, tolerated_failures=0.5, payload={"id": {"$item": True}}),
        call(catcher.url, "report", "notify", payload={"day": {"$run": "fire_time"}}),
    ]
    assert (await admin.post("/jobs", json={"name": "nightly", "steps": steps})).status_code == 201
    notify = (await admin.get("/jobs/nightly")).json()["steps"][0]
    assert (notify["each"], notify["concurrency"], notify["tolerated_failures"]) == (each, 2, 0.5)
    assert notify["payload"] == {"id": {"$item": True}}, "as it was declared, so that a plan finds no difference"
    headers = {"Idempotency-Key": "k"}
    async with draining(store) as drain:
        await drain()
        made = await admin.post("/jobs/nightly/trigger", json={"payload": {"customers": [7, 8, 9]}}, headers=headers)
        assert made.status_code == 202, made.text
        run = made.json()["instance_id"]
        for _ in range(9):
            await drain()
    assert await states(admin, run) == ("SUCCESS", {"notify": "SUCCESS", "report": "SUCCESS"})
    counted = {step["name"]: step["children"] for step in (await admin.get(f"/graph-runs/{run}")).json()["steps"]}
    assert counted == {"notify": 3, "report": None}
    assert sorted(a.payload["id"] for a in catcher.arrivals if a.path == "/notify") == [7, 8, 9]


async def test_the_elements_of_a_mapped_step_are_listed_by_page_and_state(admin, client, other, ctx, store, catcher):
    each = {"each": {"$run": "payload"}, "payload": {"id": {"$item": True}}}
    steps = [call(catcher.url, "notify", **each), call(catcher.url, "report", "notify")]
    await admin.post("/jobs", json={"name": "nightly", "steps": steps})
    catcher.answer = lambda arrival: 400 if arrival.path == "/notify" and arrival.payload["id"] in {"b", "d"} else 200
    run = public(Prefix.INSTANCE, await begin(ctx, "nightly", "k", payload=list("abcde")))
    async with draining(store) as drain:
        for _ in range(9):
            await drain()
    path = f"/graph-runs/{run}/steps/notify/children"
    first = (await admin.get(path, params={"limit": 3})).json()
    rest = (await admin.get(path, params={"limit": 3, "cursor": first["next"]})).json()
    found = first["items"] + rest["items"]
    assert [one["number"] for one in found] == [0, 1, 2, 3, 4]
    assert (len(first["items"]), rest["next"]) == (3, None)
    dead = (await admin.get(path, params={"state": "DEAD"})).json()["items"]
    assert [(one["number"], one["reason"]) for one in dead] == [(1, "HTTP_4XX"), (3, "HTTP_4XX")]
    called = (await admin.get(f"/instances/{dead[0]['instance_id']}")).json()
    assert (called["job"], called["state"], called["payload"]) == ("nightly/notify", "DEAD", {"id": "b"})
    notify, report = (await admin.get(f"/graph-runs/{run}")).json()["steps"]
    assert (notify["child_states"], report["child_states"]) == ({"SUCCESS": 3, "DEAD": 2}, None)
    assert (await admin.get(f"/graph-runs/{run}/steps/report/children")).json()["items"] == []
    assert (await admin.get(f"/graph-runs/{run}/steps/nobody/children")).status_code == 404
    assert (await admin.get(path, params={"state": "SOMEHOW"})).status_code == 422
    stranger = await client(Role.ADMIN, of=other)
    assert (await stranger.get(path)).status_code == 404, "another tenant has no such run"
    catcher.answer = lambda _: 200
    again = (await admin.post(f"/graph-runs/{run}/steps/notify/retry")).json()["steps"][0]
    assert again["child_states"] == {"SUCCESS": 3, "WAITING": 2}, "only what had failed runs again"


async def test_elements_of_a_run_with_too_many_of_them_are_not_counted(admin, ctx, store, catcher, monkeypatch):
    await admin.post("/jobs", json={"name": "nightly", "steps": [{"name": "notify", "each": {"$run": "payload"}}]})
    run = public(Prefix.INSTANCE, await begin(ctx, "nightly", "k", payload=[1, 2, 3]))
    async with draining(store) as drain:
        await drain()
    [notify] = (await admin.get(f"/graph-runs/{run}")).json()["steps"]
    assert notify["child_states"] == {"RELEASED": 3}
    monkeypatch.setattr(runs, "MAX_TALLIED", 2)
    [notify] = (await admin.get(f"/graph-runs/{run}")).json()["steps"]
    assert (notify["children"], notify["child_states"]) == (3, None)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (A | {"payload": {"x": {"$result": "b"}}}, "does not lie before it"),
        (A | {"payload": {"$item": True}}, "stands for nothing"),
        (A | {"concurrency": 3}, "have no effect"),
        (A | {"each": {"$run": "fire_time"}}, "is a '$result', or the '$run' payload"),
        (A | {"each": {"$run": "payload"}, "tolerated_failures": 2}, "tolerated_failures"),
    ],
)
async def test_parameters_that_can_have_no_value_are_refused(admin, step, said):
    refused = await admin.post("/jobs", json={"name": "nightly", "steps": [step, {"name": "b"}]})
    assert refused.status_code == 422
    assert said in refused.text
