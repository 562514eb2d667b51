"""A job that only a newer release can read is listed, paused and removed; nothing writes its definition back."""

import pytest

from horae.domain.ids import Prefix, private
from horae.upkeep.copies import Copier
from tests.steps import move_clock, query

FUTURE = {"kind": "future", "tides": 3}
CODE = "SCH_503_RELEASE"


async def written_by_a_newer_release(store, name):
    """Give a job a trigger that this release does not know, as if the next one had written it."""
    for table, where in (("job", "name = $2"), ("job_version", "job_id in (select id from job where name = $2)")):
        await query(
            store,
            f"update {table} set definition = jsonb_set(definition, '{{trigger}}', $1) where {where}",
            FUTURE,
            name,
        )
    copies = "update reference set body = jsonb_set(body, '{definition,trigger}', $1) where kind = 'job' and name = $2"
    await query(store, copies, FUTURE, name)


async def stored(store, name):
    """What the rows hold about a job."""
    return [dict(row) for row in await query(store, "select status, definition from job where name = $1", name)]


@pytest.fixture
async def newer(store, admin):
    """The job `new` of a newer release, beside the job `old`; both have been due for a while."""
    for name in ("new", "old"):
        made = await admin.post(
            "/jobs",
            json={
                "name": name,
                "trigger": {"kind": "interval", "every": 60},
                "labels": {"team": "crm"},
                "priority": "low",
            },
        )
        assert made.status_code == 201, made.text
    await written_by_a_newer_release(store, "new")
    await move_clock(store, seconds=90)
    return (await query(store, "select definition from job where name = 'new'"))[0]["definition"]


async def test_a_job_of_a_newer_release_is_listed_beside_the_others(admin, newer):
    page = await admin.get("/jobs", params={"label": "team=crm"})
    assert page.status_code == 200, page.text
    new, old = page.json()["items"]
    assert (new["name"], new["unreadable"], old["name"], old["unreadable"]) == ("new", CODE, "old", None)
    assert (new["labels"], new["priority"], new["status"]) == ({"team": "crm"}, "low", "ACTIVE")
    assert new["next_fire_at"]
    assert (await admin.get("/jobs", params={"limit": 1})).json()["next"]


async def test_it_is_paused_and_removed_without_its_definition(admin, store, newer):
    paused = await admin.post("/jobs/new/pause", headers={"Idempotency-Key": "p"})
    assert (paused.status_code, paused.json()["status"], paused.json()["unreadable"]) == (200, "PAUSED", CODE)
    assert await stored(store, "new") == [{"status": "PAUSED", "definition": newer}]
    gone = await admin.delete("/jobs/new")
    assert (gone.status_code, gone.json()["status"]) == (200, "REMOVED")
    assert await stored(store, "new") == [{"status": "REMOVED", "definition": newer}]
    job_id = private(Prefix.JOB, gone.json()["id"])
    assert not await query(store, "select from job_cursor where job_id = $1", job_id)
    told = await query(store, "select state, reason from instance_history where job_id = $1", job_id)
    assert [(row["state"], row["reason"]) for row in told] == [("SKIPPED", "PAUSED")]


async def test_one_that_is_due_and_removed_leaves_its_skipped_row(admin, store, newer):
    gone = await admin.delete(f"/jobs/{(await admin.get('/jobs')).json()['items'][0]['id']}")
    assert (gone.status_code, gone.json()["status"]) == (200, "REMOVED")
    job_id = private(Prefix.JOB, gone.json()["id"])
    told = await query(store, "select state, reason from instance_history where job_id = $1", job_id)
    assert [(row["state"], row["reason"]) for row in told] == [("SKIPPED", "REMOVED")]


async def test_what_needs_its_definition_is_refused_and_changes_nothing(admin, store, newer):
    await admin.post("/jobs/new/pause")
    refused = [
        await admin.post("/jobs/new/resume"),
        await admin.get("/jobs/new"),
        await admin.patch("/jobs/new/labels", json={"labels": {"a": "b"}}),
        await admin.post("/jobs/new/trigger", headers={"Idempotency-Key": "t"}),
    ]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [(503, CODE)] * len(refused)
    assert await stored(store, "new") == [{"status": "PAUSED", "definition": newer}]


async def test_it_is_paused_with_many_others(admin, store, newer):
    done = await admin.post("/bulk/jobs", json={"verb": "pause", "labels": {"team": "crm"}})
    assert done.status_code == 200, done.text
    assert [(one["name"], one["ok"]) for one in done.json()["items"]] == [("new", True), ("old", True)]
    assert [row["status"] for row in await stored(store, "new")] == ["PAUSED"]


async def test_a_type_of_a_newer_release_is_paused_in_every_cell(admin, store):
    await admin.post("/jobs", json={"name": "MAIL", "trigger": {"kind": "keyed"}})
    await Copier(store).once()
    await written_by_a_newer_release(store, "MAIL")
    assert (await admin.post("/jobs/MAIL/pause")).status_code == 200
    await Copier(store).once()
    copies = await query(store, "select body from reference where kind = 'job' and name = 'MAIL'")
    assert len(copies) == len(store.cells)
    for row in copies:
        assert (row["body"]["status"], row["body"]["definition"]["trigger"]["kind"]) == ("PAUSED", "future")


async def test_a_dry_run_refuses_what_the_action_would_refuse(admin, newer):
    for verb, code in (("pause", None), ("resume", CODE), ("trigger", CODE)):
        for dry_run in (True, False):
            asked = {"verb": verb, "names": ["new"], "dry_run": dry_run}
            done = await admin.post("/bulk/jobs", json=asked, headers={"Idempotency-Key": f"{verb}-{dry_run}"})
            [item] = done.json()["items"]
            assert (item["ok"], item["code"]) == (code is None, code), (verb, dry_run)
