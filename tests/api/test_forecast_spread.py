"""The busiest seconds with their jobs, a proposal to spread them as a plan, and the effect of an unsaved job."""

import pytest

from horae.security.roles import Role

HOURLY = {"cron": "0 * * * *", "timezone": "UTC"}


@pytest.fixture
async def herd(admin):
    """Twelve hourly jobs; the last one needs its exact second, and one is declared by a source."""
    for number in range(10):
        made = {"name": f"hourly-{number:02}", **HOURLY, "owner": f"team-{number % 2}"}
        assert (await admin.post("/jobs", json=made)).status_code == 201
    exact = {"name": "settlement", **HOURLY, "policies": {"spread": {"exact": True}}}
    assert (await admin.post("/jobs", json=exact)).status_code == 201
    source = {"owner": "billing", "jobs": {"declared": HOURLY}}
    assert (await admin.post("/plans/apply", json=source)).is_success
    return [f"hourly-{number:02}" for number in range(10)]


async def proposed(client, jobs, **more):
    answer = await client.post("/forecast/spread", json={"jobs": jobs, "hours": 24, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_worst_seconds_tell_their_jobs_with_owners_in_one_request(admin, client, herd):
    viewer = await client(Role.VIEWER)
    told = (await viewer.get("/forecast/worst", params={"seconds": 2, "jobs": 5})).json()
    assert [one["fires"] for one in told["seconds"]] == [12, 12]
    first = told["seconds"][0]
    assert [one["name"] for one in first["jobs"]] == ["declared", *herd[:4]]
    assert first["jobs"][0] | {"name": "declared", "source": "billing", "owner": None} == first["jobs"][0]
    assert (first["jobs"][1]["owner"], first["jobs"][1]["fires"], first["jobs"][1]["exact"]) == ("team-0", 24, False)
    assert (told["minutes"][0]["fires"], told["complete"]) == (12, True)
    minute = {"minute": first["at"], "seconds": 60}
    assert [one["at"] for one in (await viewer.get("/forecast/worst", params=minute)).json()["seconds"]] == [
        first["at"]
    ]
    away = await viewer.get("/forecast/worst", params={"minute": "2001-01-01T00:00:00Z"})
    assert away.status_code in {400, 422}


async def test_a_proposal_is_applied_as_a_plan_with_an_audit_row_for_each_job(admin, herd):
    proposal = await proposed(admin, [*herd, "settlement", "declared", "nobody"])
    assert (proposal["before"]["fires"], proposal["own_before"]["fires"]) == (12, 12)
    assert proposal["after"]["fires"] < 6
    assert {one["job"]: one["reason"] for one in proposal["stays"]} | {"settlement": "EXACT", "nobody": "UNKNOWN"} == {
        one["job"]: one["reason"] for one in proposal["stays"]
    }
    assert await proposed(admin, ["declared", "nobody", "settlement", *reversed(herd)]) == proposal
    plan = (await admin.post("/plans", json=proposal["plan"])).json()
    moved = {one["job"]: one for one in proposal["moves"]}
    assert plan["counts"] == {"change": len(moved)}
    step = plan["steps"][0]
    [field] = step["fields"]
    assert (field["path"], field["after"]) == ("policies", {"spread": {"window": moved[step["name"]]["window"]}})
    assert step["fires_before"] != step["fires_after"]
    before = len((await admin.get("/audit", params={"action": "job.updated"})).json()["items"])
    done = (await admin.post("/plans/apply", json=proposal["plan"])).json()
    assert [one["code"] for one in done["done"]] == [None] * len(moved)
    rows = (await admin.get("/audit", params={"action": "job.updated"})).json()["items"]
    assert len(rows) - before == len(moved)
    after = (await admin.get("/forecast", params={"hours": 24})).json()
    assert after["worst"][0]["fires"] == proposal["after"]["fires"]
    assert after["total"] == 24 * 12
    again = (await admin.post("/plans/apply", json=proposal["plan"])).json()
    assert (again["counts"], again["done"]) == ({"keep": len(moved)}, [])


async def test_a_job_keeps_its_source_and_its_file_sees_the_window_as_a_change_of_others(admin, herd):
    proposal = await proposed(admin, ["declared", *herd])
    await admin.post("/plans/apply", json=proposal["plan"])
    moved = next(one for one in proposal["moves"] if one["job"] == "declared")
    assert moved["source"] == "billing"
    source = {"owner": "billing", "jobs": {"declared": HOURLY}}
    assert (await admin.post("/plans", json=source)).json()["counts"] == {"conflict": 1}
    kept = {"declared": {**HOURLY, "policies": {"spread": {"window": moved["window"]}}}}
    agreed = (await admin.post("/plans/apply", json=source | {"jobs": kept})).json()
    assert agreed["counts"] in ({"keep": 1}, {"change": 1})
    assert (await admin.get("/jobs/declared")).json()["policies"]["spread"]["window"] == moved["window"]


async def test_a_job_that_was_changed_after_the_proposal_is_a_conflict_and_stays(admin, herd):
    proposal = await proposed(admin, herd)
    name = proposal["moves"][0]["job"]
    await admin.patch(f"/jobs/{name}/labels", json={"labels": {"team": "ops"}})
    done = (await admin.post("/plans/apply", json=proposal["plan"])).json()
    [conflict] = [one for one in done["steps"] if one["step"] == "conflict"]
    assert (conflict["name"], "version 2" in conflict["reason"]) == (name, True)
    assert name not in {one["name"] for one in done["done"]}
    assert (await admin.get(f"/jobs/{name}")).json()["policies"]["spread"]["window"] == 0


async def test_a_plan_of_windows_refuses_what_it_cannot_set(admin, client, herd):
    asked = {"spread": {"settlement": {"version": 1, "window": 60}, "nobody": {"version": 1, "window": 60}}}
    plan = (await admin.post("/plans", json=asked)).json()
    assert {one["name"]: one["step"] for one in plan["steps"]} == {"nobody": "refused", "settlement": "refused"}
    for wrong in ({}, asked | {"owner": "x", "jobs": {}}, asked | {"prune": True}, {"owner": "x"}):
        assert (await admin.post("/plans", json=wrong)).status_code in {400, 422}, wrong
    viewer = await client(Role.VIEWER)
    assert (await viewer.post("/plans", json=asked)).is_success
    assert (await viewer.post("/plans/apply", json=asked)).status_code == 403


async def test_another_tenant_sees_and_moves_nothing(client, other, herd):
    stranger = await client(Role.EDITOR, of=other)
    assert (await stranger.get("/forecast/worst")).json()["seconds"] == []
    proposal = await proposed(stranger, herd)
    assert (proposal["moves"], proposal["plan"]) == ([], None)
    asked = {"spread": {herd[0]: {"version": 1, "window": 60}}}
    assert (await stranger.post("/plans/apply", json=asked)).json()["counts"] == {"refused": 1}


async def test_the_effect_of_a_job_is_known_before_it_is_saved(admin, client, herd):
    viewer = await client(Role.VIEWER)
    new = {"name": "thirteenth", **HOURLY}
    told = (await viewer.post("/forecast", json=new)).json()
    assert (told["before"]["fires"], told["after"]["fires"], told["own"]["fires"]) == (12, 13, 13)
    assert (told["fires_before"], told["fires_after"]) == (0, 24)
    assert (told["limited_by"], told["share"]) == ("CELLS", 13 / told["capacity"])
    calmer = (await viewer.post("/forecast", json={"name": herd[0], "cron": "30 * * * *"})).json()
    assert (calmer["before"]["fires"], calmer["after"]["fires"], calmer["own"]["fires"]) == (12, 11, 1)
    assert (calmer["fires_before"], calmer["fires_after"]) == (24, 24)
    keyed = (await viewer.post("/forecast", json={"name": "TYPE", "trigger": {"kind": "keyed"}})).json()
    assert (keyed["own"], keyed["after"]["fires"]) == (None, 12)
    assert (await admin.get("/jobs/thirteenth")).status_code == 404
    assert (await viewer.post("/forecast", json={"name": "wrong", "cron": "* *"})).status_code in {400, 422}
