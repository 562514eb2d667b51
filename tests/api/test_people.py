"""The people of a job through the API: create, update, set, search by owner, and in a file of schedules."""

import pytest

from horae.boot.schedule_files.declared import source_of
from horae.domain.plans.plans import ChangeStep, Keep
from horae.security.roles import Role
from horae.service.plans.applying import apply
from horae.service.plans.planning import plan

CRON = {"name": "close_orders", "cron": "0 */5 * * * ?"}
PEOPLE = {
    "description": "Closes orders that nobody paid.",
    "owner": "orders-team",
    "runbook": "https://wiki.example.com/orders",
    "contacts": ["orders-oncall"],
    "late_after": 60,
    "fail_after": 3,
}
NOBODY = {
    "description": None,
    "owner": None,
    "runbook": None,
    "contacts": [],
    "late_after": None,
    "fail_after": None,
}


def people_in(job):
    return {name: job[name] for name in PEOPLE}


async def test_a_job_is_created_with_its_people_and_read_with_them(admin):
    made = await admin.post("/jobs", json=CRON | PEOPLE)
    assert (made.status_code, people_in(made.json())) == (201, PEOPLE)
    assert people_in((await admin.get("/jobs/close_orders")).json()) == PEOPLE


async def test_a_job_without_people_has_none(admin):
    assert people_in((await admin.post("/jobs", json=CRON)).json()) == NOBODY


async def test_an_update_says_all_of_it_and_a_patch_only_what_changes(admin):
    await admin.post("/jobs", json=CRON | PEOPLE)
    changed = await admin.patch("/jobs/close_orders/people", json={"owner": "billing", "late_after": None})
    assert people_in(changed.json()) == PEOPLE | {"owner": "billing", "late_after": None}
    assert changed.json()["next_fire_at"] is not None
    cleared = await admin.patch("/jobs/close_orders/people", json={"contacts": None})
    assert cleared.json()["contacts"] == []
    version = cleared.json()["version"]
    updated = await admin.put("/jobs/close_orders", json={"cron": CRON["cron"], "version": version})
    assert people_in(updated.json()) == NOBODY


async def test_a_change_of_people_is_in_the_versions_and_in_the_audit_log(admin):
    await admin.post("/jobs", json=CRON | PEOPLE)
    await admin.patch("/jobs/close_orders/people", json={"owner": "billing"})
    [changed] = (await admin.get("/jobs/close_orders/diff", params={"before": 1, "after": 2})).json()
    assert (changed["path"], changed["before"], changed["after"]) == ("owner", "orders-team", "billing")
    rows = (await admin.get("/audit")).json()["items"]
    assert [row["detail"]["people"] for row in rows if "people" in row["detail"]] == [{"owner": "billing"}]


async def test_a_viewer_reads_people_and_does_not_set_them(admin, client):
    await admin.post("/jobs", json=CRON | PEOPLE)
    viewer = await client(Role.VIEWER)
    assert people_in((await viewer.get("/jobs/close_orders")).json()) == PEOPLE
    assert (await viewer.patch("/jobs/close_orders/people", json={"owner": "me"})).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"owner": ""},
        {"owner": 7},
        {"runbook": "http://wiki.example.com"},
        {"contacts": ["a b"]},
        {"contacts": ["a", "a"]},
        {"contacts": "orders-oncall"},
        {"late_after": 1.5},
        {"late_after": 0},
        {"fail_after": 1001},
        {"fail_after": True},
        {"description": "x" * 2001},
        {"team": "orders"},
    ],
)
async def test_what_is_no_owner_contact_or_limit_is_refused(admin, wrong):
    await admin.post("/jobs", json=CRON)
    for refused in (
        await admin.post("/jobs", json=CRON | {"name": "other"} | wrong),
        await admin.patch("/jobs/close_orders/people", json=wrong),
    ):
        assert (refused.status_code, refused.json()["code"]) == (422, "SCH_422_INVALID")


async def test_jobs_are_searched_by_owner_together_with_the_other_filters(admin):
    for number, owner in enumerate(["orders", "orders", "billing", None]):
        labels = {"n": str(number)}
        await admin.post("/jobs", json=CRON | {"name": f"job-{number}", "owner": owner, "labels": labels})
    await admin.post("/jobs/job-1/pause")

    async def names(**params):
        return [job["name"] for job in (await admin.get("/jobs", params=params)).json()["items"]]

    assert await names(owner="orders") == ["job-0", "job-1"]
    assert await names(owner="orders", status="PAUSED") == ["job-1"]
    assert await names(owner="orders", label="n=0") == ["job-0"]
    assert await names(owner="nobody") == []
    first = (await admin.get("/jobs", params={"owner": "orders", "limit": 1})).json()
    assert await names(owner="orders", limit=1, cursor=first["next"]) == ["job-1"]
    done = (await admin.post("/bulk/jobs", json={"verb": "pause", "owner": "billing"})).json()
    assert [one["name"] for one in done["items"]] == ["job-2"]


async def test_a_type_of_tasks_has_people_too(admin):
    made = await admin.post("/jobs", json={"name": "CLOSE", "trigger": {"kind": "keyed"}} | PEOPLE)
    assert people_in(made.json()) == PEOPLE
    listed = (await admin.get("/jobs", params={"owner": "orders-team"})).json()
    assert [job["name"] for job in listed["items"]] == ["CLOSE"]


async def test_a_file_of_schedules_declares_people_and_a_plan_shows_what_changes(ctx, tenant):
    def source(**people):
        file = source_of({"owner": "repo", "defaults": people, "jobs": {"a": {"every": 60}}}, None, "jobs.yaml")
        return file.parse(tenant, ctx.now())

    await apply(ctx, await plan(ctx, "repo", source(**PEOPLE)))
    [kept] = (await plan(ctx, "repo", source(**PEOPLE))).steps
    assert isinstance(kept, Keep)
    [change] = (await plan(ctx, "repo", source(**PEOPLE | {"owner": "billing"}))).steps
    assert isinstance(change, ChangeStep)
    assert [(field.path, field.before, field.after) for field in change.fields] == [("owner", "orders-team", "billing")]
