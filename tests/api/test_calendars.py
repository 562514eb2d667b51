"""Calendars through the API: who uses one, and what a change would do."""

from datetime import datetime, timedelta

import pytest

from horae.security.roles import Role
from tests.steps import query

EVERY_DAY = {"first": "2020-01-01", "last": "2040-12-31", "weekdays": [1, 2, 3, 4, 5, 6, 7]}
NINE = {"cron": "0 9 * * *"}


@pytest.fixture
async def jobs(admin):
    for name in ("days", "others"):
        await admin.put(f"/calendars/{name}", json=EVERY_DAY)
    for name, calendar, owner in (("a", "days", "x"), ("b", "days", "y"), ("c", "others", "x")):
        policies = {"calendars": [{"calendar": calendar}]}
        made = await admin.post("/jobs", json={"name": name, **NINE, "owner": owner, "policies": policies})
        assert made.status_code == 201, made.text
    await admin.post("/jobs", json={"name": "d", **NINE})


async def names(client, **asked):
    return [one["name"] for one in (await client.get("/jobs", params=asked)).json()["items"]]


async def test_jobs_are_listed_by_the_calendar_that_they_use(admin, jobs):
    assert await names(admin, calendar="days") == ["a", "b"]
    assert await names(admin, calendar="days", owner="y") == ["b"]
    assert await names(admin, calendar="days", contains="A") == ["a"]
    assert await names(admin, calendar="nobody") == []
    await admin.post("/jobs/b/pause")
    assert await names(admin, calendar="days") == ["a", "b"]
    assert await names(admin, calendar="days", status="PAUSED") == ["b"]
    await admin.delete("/jobs/a")
    assert await names(admin, calendar="days") == ["b"]
    page = (await admin.get("/jobs", params={"calendar": "days", "limit": 1})).json()
    assert page["next"] is None


async def test_a_preview_names_the_fires_that_change_and_writes_nothing(admin, jobs, store):
    before = await query(store, "select name, version, body from calendar order by name")
    [first, *_] = (await admin.get("/jobs/a/preview")).json()["fires"]
    day = first["fire_time"][:10]
    found = (await admin.post("/calendars/days/preview", json=EVERY_DAY | {"removed": [day]})).json()
    assert [one["job"] for one in found["jobs"]] == ["a", "b"]
    [one, other] = found["jobs"]
    assert (one["removed"], one["added"], one["owner"]) == ([first["fire_time"]], [], "x")
    assert one["next_before"] == first["fire_time"]
    assert datetime.fromisoformat(one["next_after"]) - datetime.fromisoformat(one["next_before"]) == timedelta(days=1)
    assert one["until"] == other["until"] == found["until"]
    assert await query(store, "select name, version, body from calendar order by name") == before
    assert (await admin.get("/jobs/a")).json()["next_fire_at"] == first["fire_time"]


async def test_the_jobs_of_a_preview_come_page_by_page(admin, jobs):
    page = (await admin.post("/calendars/days/preview", json=EVERY_DAY | {"limit": 1})).json()
    assert ([one["job"] for one in page["jobs"]], page["next"]) == (["a"], "a")
    rest = (await admin.post("/calendars/days/preview", json=EVERY_DAY | {"limit": 1, "after": "a"})).json()
    assert ([one["job"] for one in rest["jobs"]], rest["next"]) == (["b"], None)


async def test_a_preview_of_many_fires_says_where_it_stopped(admin, jobs):
    policies = {"calendars": [{"calendar": "others"}]}
    await admin.post("/jobs", json={"name": "often", "cron": "* * * * * *", "policies": policies})
    found = (await admin.post("/calendars/others/preview", json=EVERY_DAY | {"weekdays": [1]})).json()
    [_, often] = found["jobs"]
    assert len(often["removed"]) == 200
    assert often["until"] < found["until"]


async def test_a_calendar_that_would_be_refused_is_refused_in_its_preview(admin, jobs):
    wrong = EVERY_DAY | {"first": "2041-01-01"}
    answer = await admin.post("/calendars/days/preview", json=wrong)
    assert (answer.status_code, answer.json()["code"]) == (422, "SCH_422_SCHEDULE")


async def test_whoever_may_read_may_preview(client, jobs):
    viewer = await client(Role.VIEWER)
    assert (await viewer.post("/calendars/days/preview", json=EVERY_DAY)).status_code == 200
    assert (await viewer.put("/calendars/days", json=EVERY_DAY)).status_code == 403
