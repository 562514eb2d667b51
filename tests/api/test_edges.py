"""Jobs that start after others, over HTTP: written, read, changed, followed, and refused."""

from horae.security.roles import Role
from horae.upkeep.copies import Copier
from horae.upkeep.edges import EdgeFollower
from tests.upkeep.test_edges import drain, run


async def test_an_edge_is_written_shown_changed_and_taken_away(admin, ctx, store):
    made = await admin.post("/jobs", json={"name": "LOAD"})
    assert made.json()["after"] is None
    body = {"name": "REPORT", "after": {"job": "LOAD"}}
    made = await admin.post("/jobs", json=body)
    assert (made.status_code, made.json()["after"]) == (201, {"job": "LOAD", "on": "succeeded"})
    shown = (await admin.get("/jobs/REPORT")).json()
    assert shown["after"] == {"job": "LOAD", "on": "succeeded"}
    assert shown["edge"] == {"started": 0, "followed_until": None, "error": None}
    await Copier(store).once()
    follower = EdgeFollower(store, store.shards_of)
    await run(ctx, "LOAD")
    await drain(follower)
    edge = (await admin.get("/jobs/REPORT")).json()["edge"]
    assert (edge["started"], edge["error"]) == (1, None)
    [one] = (await admin.get("/jobs/REPORT/instances")).json()["items"]
    assert one["fire_time"] == (await admin.get("/jobs/LOAD/instances")).json()["items"][0]["fire_time"]
    changed = await admin.put("/jobs/REPORT", json={"version": 1, "after": {"job": "LOAD", "on": "failed"}})
    assert changed.json()["after"] == {"job": "LOAD", "on": "failed"}
    found = (await admin.get("/jobs/REPORT/diff", params={"before": 1, "after": 2})).json()
    assert [one["text"] for one in found] == ['+ after.on: "failed"']
    assert (await admin.put("/jobs/REPORT", json={"version": 2})).json()["after"] is None
    assert (await admin.get("/jobs/REPORT")).json()["edge"] is None


async def test_edges_that_cannot_work_are_refused(admin, client, other):
    theirs = await client(Role.ADMIN, of=other)
    await admin.post("/jobs", json={"name": "LOAD"})
    await admin.post("/jobs", json={"name": "REPORT", "after": {"job": "LOAD"}})
    await theirs.post("/jobs", json={"name": "THEIRS"})
    wrong = {
        "there is no job 'THEIRS'": {"name": "x", "after": {"job": "THEIRS"}},
        "after itself": {"name": "x", "after": {"job": "x"}},
        "whose instances have keys": {"name": "x", "trigger": {"kind": "keyed"}, "after": {"job": "LOAD"}},
        "by hand": {"name": "x", "cron": "* * * * *", "after": {"job": "LOAD"}},
    }
    for reason, body in wrong.items():
        refused = await admin.post("/jobs", json=body)
        assert (refused.status_code, reason in refused.json()["detail"]) == (422, True), refused.text
    for after in ({"job": "LOAD", "on": "started"}, {"job": "LOAD", "edge_id": "01"}, {}):
        assert (await admin.post("/jobs", json={"name": "x", "after": after})).status_code == 422
    refused = await admin.put("/jobs/LOAD", json={"version": 1, "after": {"job": "REPORT"}})
    assert "LOAD → REPORT → LOAD" in refused.json()["detail"]
