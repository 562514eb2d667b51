"""Schedules as code over HTTP: what `horae plan` and `horae apply` need is a key, and no database."""

import time

import pytest

from horae.api.models.plans import MAX_APPLIED_STEPS, MAX_PLANNED_JOBS
from horae.security.roles import Role

PLANNED_JOBS = 1000
MAX_PLAN_CPU_S = 5.0
SOURCE = {"owner": "billing", "jobs": {"report": {"cron": "0 2 * * *"}, "settle": {"every": 90, "paused": True}}}


async def made(client, **changes):
    return (await client.post("/plans", json=SOURCE | changes)).json()


async def applied(client, **changes):
    answer = await client.post("/plans/apply", json=SOURCE | changes)
    assert answer.status_code == 200, answer.text
    return answer.json()


def words(plan):
    return {step["name"]: step["step"] for step in plan["steps"]}


async def test_a_plan_says_every_step_and_changes_nothing(admin):
    plan = await made(admin)
    assert plan["counts"] == {"create": 2}
    [report, settle] = plan["steps"]
    assert (report["name"], report["paused"], len(report["fires_after"])) == ("report", False, 3)
    assert (settle["name"], settle["paused"]) == ("settle", True)
    assert (await admin.get("/jobs")).json()["items"] == []


async def test_what_was_applied_twice_has_nothing_left_to_do(admin):
    first = await applied(admin)
    assert [(one["name"], one["step"], one["code"]) for one in first["done"]] == [
        ("report", "create", None),
        ("settle", "create", None),
    ]
    assert first["next"] is None
    again = await applied(admin)
    assert (again["counts"], again["done"]) == ({"keep": 2}, [])
    entries = (await admin.get("/audit", params={"action": "job.created"})).json()["items"]
    assert len(entries) == 2


async def test_a_change_shows_its_fields_and_both_schedules(admin):
    await applied(admin)
    plan = await made(admin, jobs={"report": {"cron": "30 4 * * *"}})
    [report, settle] = plan["steps"]
    assert (report["step"], settle["step"]) == ("change", "leave")
    [field] = report["fields"]
    assert (field["path"], field["before"], field["after"]) == ("trigger.expression", "0 2 * * *", "30 4 * * *")
    assert len(report["fires_before"]) == len(report["fires_after"]) == 3
    assert words(await applied(admin, jobs={}, prune=True)) == {"report": "prune", "settle": "prune"}
    assert (await admin.get("/jobs")).json()["items"] == []


async def test_what_others_changed_is_a_conflict_until_someone_insists(admin):
    await applied(admin)
    await admin.patch("/jobs/report/labels", json={"labels": {"team": "ops"}})
    theirs = {"jobs": {"report": {"cron": "0 2 * * *", "labels": {"team": "billing"}}}}
    kept = await applied(admin, **theirs)
    assert words(kept)["report"] == "conflict"
    assert kept["steps"][0]["edits"][0]["after"] == "ops"
    assert kept["done"] == []
    assert [one["step"] for one in (await applied(admin, **theirs, force=True))["done"]] == ["change"]


async def test_a_job_of_another_owner_is_refused(admin):
    await applied(admin)
    assert words(await made(admin, owner="shop")) == {"report": "refused", "settle": "refused"}


async def test_errors_of_all_jobs_come_together(admin):
    answer = await admin.post("/plans", json=SOURCE | {"jobs": {"a": {"cron": "* *"}, "b": {"timezome": "UTC"}}})
    assert answer.status_code == 422
    assert "a: " in answer.json()["detail"]
    assert "b: timezome: unknown field of a job" in answer.json()["detail"]


@pytest.mark.parametrize(("role", "plans", "applies"), [(Role.VIEWER, 200, 403), (Role.WORKER, 403, 403)])
async def test_a_viewer_plans_and_does_not_apply(client, role, plans, applies):
    asking = await client(role)
    assert (await asking.post("/plans", json=SOURCE)).status_code == plans
    assert (await asking.post("/plans/apply", json=SOURCE)).status_code == applies


async def test_parts_follow_each_other_and_a_refused_step_does_not_hold_them_up(admin):
    source = {"jobs": {f"job-{number}": {"every": 60} for number in range(5)}}
    first = await applied(admin, **source, limit=2)
    assert (first["next"], words(first)) == ("job-1", {"job-0": "create", "job-1": "create"})
    rest = await applied(admin, **source, limit=100, after=first["next"])
    assert (rest["next"], sorted(words(rest))) == (None, ["job-2", "job-3", "job-4"])
    assert rest["counts"] == {"keep": 2, "create": 3}


async def test_a_thousand_jobs_are_planned_within_five_seconds(admin):
    """Measured in CPU seconds of this process, which is the API: a busy neighbour changes nothing."""
    jobs = {
        f"report-{number:04}": {"cron": f"{number % 60} {number % 24} * * *", "timezone": "Asia/Shanghai"}
        | {"target": {"kind": "http", "url": f"https://example.com/reports/{number}"}, "labels": {"team": "finance"}}
        | {"description": "The report of one shop: revenue, refunds and open orders of the day before, by mail."}
        for number in range(PLANNED_JOBS)
    }
    began = time.process_time()
    plan = await made(admin, jobs=jobs)
    assert time.process_time() - began < MAX_PLAN_CPU_S
    assert plan["counts"] == {"create": PLANNED_JOBS}
    first = await applied(admin, jobs=jobs)
    assert len(first["done"]) == MAX_APPLIED_STEPS
    rest = await applied(admin, jobs=jobs, after=first["next"])
    assert rest["next"] is None
    began = time.process_time()
    again = await applied(admin, jobs=jobs)
    assert time.process_time() - began < MAX_PLAN_CPU_S
    assert (again["counts"], again["done"]) == ({"keep": PLANNED_JOBS}, [])


async def test_a_source_has_a_bound(admin):
    answer = await admin.post("/plans", json=SOURCE | {"jobs": {f"j{n}": {} for n in range(MAX_PLANNED_JOBS + 1)}})
    assert answer.status_code == 422
