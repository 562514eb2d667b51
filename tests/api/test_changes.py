"""Jobs changed and looked at through the door."""

import httpx2
import pytest

from horae.api.app import AppParts
from horae.boot.api_server import app_of
from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.domain.capacity.figures import STORE
from horae.domain.targets.egress import Egress
from horae.security.roles import Role
from horae.service.targets.trials import Trials
from horae.upkeep.copies import Copier
from horae.upkeep.growth import GrowthMeter
from tests.catcher import catching
from tests.steps import query

CRON = {"cron": "0 */5 * * * ?"}


@pytest.fixture
async def job(admin):
    return (await admin.post("/jobs", json={"name": "coupon_job", **CRON, "labels": {"team": "a"}})).json()


async def audited(store, action):
    return len(await query(store, "select 1 from audit_log where action = $1", action))


async def test_an_update_names_the_version_it_was_made_from(admin, job, store):
    changed = await admin.put("/jobs/coupon_job", json={"version": 1, "cron": "0 */10 * * * ?", "priority": "critical"})
    assert changed.status_code == 200
    assert (changed.json()["version"], changed.json()["priority"], changed.json()["labels"]) == (2, "critical", {})
    late = await admin.put("/jobs/coupon_job", json={"version": 1, **CRON})
    assert (late.status_code, late.json()["code"], late.json()["version"]) == (409, "SCH_409_CONFLICT", 2)
    kind = await admin.put("/jobs/coupon_job", json={"version": 2, "trigger": {"kind": "keyed"}})
    assert kind.json()["code"] == "SCH_422_INVALID"
    assert await audited(store, "job.updated") == 1


async def test_a_skipped_occurrence_survives_an_update_that_keeps_the_trigger(admin, job):
    at = job["schedule"]["fires"][2]["fire_time"]
    assert (await admin.post("/jobs/coupon_job/skip", json={"at": at})).json()["version"] == 2
    same = {"version": 2, **CRON, "payload": {"n": 1}}
    assert (await admin.put("/jobs/coupon_job", json=same)).json()["version"] == 3
    coming = (await admin.get("/jobs/coupon_job/preview", params={"many": 4})).json()["fires"]
    assert [one["skipped"] for one in coming] == [None, None, "REQUESTED", None]
    assert (await admin.post("/jobs/coupon_job/restore", json={"at": at})).json()["version"] == 4
    moved = await admin.post("/jobs/coupon_job/move", json={"at": at, "to": at.replace(":00Z", ":30Z")})
    assert moved.status_code == 200


async def test_labels_versions_and_their_difference(admin, job):
    await admin.patch("/jobs/coupon_job/labels", json={"labels": {"team": None, "owner": "x"}})
    found = (await admin.get("/jobs", params={"label": "owner=x"})).json()["items"]
    assert [one["name"] for one in found] == ["coupon_job"]
    assert (await admin.get("/jobs", params={"label": "owner=y"})).json()["items"] == []
    assert len((await admin.get("/jobs", params={"label": "owner", "prefix": "coup"})).json()["items"]) == 1
    page = (await admin.get("/jobs/coupon_job/versions", params={"limit": 1})).json()
    assert [one["version"] for one in page["items"]] == [2]
    rest = (await admin.get("/jobs/coupon_job/versions", params={"limit": 1, "cursor": page["next"]})).json()
    assert ([one["version"] for one in rest["items"]], rest["next"]) == ([1], None)
    diff = (await admin.get("/jobs/coupon_job/diff", params={"before": 1, "after": 2})).json()
    assert [one["text"] for one in diff] == ['+ labels.owner: "x"', '- labels.team: "a"']
    assert (await admin.get("/jobs/coupon_job/versions/7")).status_code == 404


async def test_a_preview_writes_nothing(admin, store):
    told = (await admin.post("/preview", json={"name": "x", **CRON})).json()
    assert told["next_fire_at"] == told["schedule"]["fires"][0]["fire_time"]
    assert (await admin.post("/preview", json={"name": "x", "cron": "0 0 30 2 *"})).json()["code"] == "SCH_422_SCHEDULE"
    assert await query(store, "select * from job") == []


async def test_many_jobs_at_once_are_answered_item_by_item(admin, store):
    for n in range(3):
        await admin.post("/jobs", json={"name": f"j{n}", **CRON, "labels": {"team": "a"}})
    await admin.post("/jobs/j1/pause")
    done = (await admin.post("/bulk/jobs", json={"verb": "pause", "labels": {"team": "a"}})).json()
    assert [(one["name"], one["ok"], one["code"]) for one in done["items"]] == [
        ("j0", True, None),
        ("j1", False, "SCH_409_CONFLICT"),
        ("j2", True, None),
    ]
    everything = await admin.post("/bulk/jobs", json={"verb": "pause"})
    assert everything.json()["code"] == "SCH_422_INVALID"
    keyless = await admin.post("/bulk/jobs", json={"verb": "trigger", "labels": {"team": "a"}})
    assert keyless.status_code == 400


async def test_a_job_is_shown_with_all_that_its_next_version_would_lose_if_it_were_left_out(admin, job):
    limit = {"rate": 5.0, "burst": 10.0, "concurrency": 3}
    target = {"kind": "http", "url": "https://example.org/coupon"}
    made = (await admin.put("/jobs/coupon_job", json={"version": 1, **CRON, "target": target, "limit": limit})).json()
    assert (made["limit"], made["quotas"], made["overrides"]) == (limit, [], [])
    at = made["next_fire_at"]
    skipped = (await admin.post("/jobs/coupon_job/skip", json={"at": at})).json()
    assert skipped["overrides"] == [{"at": at, "to": None}]
    coming = (await admin.get("/jobs/coupon_job/preview", params={"many": 500})).json()["fires"]
    assert (len(coming), coming[0]["skipped"]) == (500, "REQUESTED")


async def test_a_forecast_tells_minutes_and_worst_seconds(admin, job):
    told = (await admin.get("/forecast", params={"hours": 1})).json()
    assert told["total"] == 12
    assert (len(told["per_minute"]), sum(told["per_minute"])) == (60, 12)
    assert (told["worst"][0]["fires"], told["worst"][0]["jobs"]) == (1, [job["name"]])


async def test_a_test_request_goes_out_for_real_but_only_where_the_tenant_may_call(
    settings, store, doors, callers, key, tenant, platform
):
    async with catching(store.cells[0].clock.now) as catcher:
        trials = Trials(Sender(Client(Egress())))
        app = app_of(settings, doors, callers, AppParts(trials=trials))
        headers = {"Authorization": f"Bearer {await key(Role.EDITOR)}"}
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://t/api/v1", headers=headers) as editor:
            target = {"kind": "http", "url": catcher.url}
            assert (await editor.post("/jobs", json={"name": "j", "target": target})).status_code == 201
            refused = (await editor.post("/jobs/j/test", json={})).json()
            assert refused["status"] is None
            inside = {"networks": ["127.0.0.0/8"], "ports": ["1-65535"], "plain": True}
            allowed = await platform.put(f"/tenants/{tenant.name}/allowance", json={"egress": inside})
            assert allowed.status_code == 200
            await Copier(store).once()
            callers._known.clear()
            tried = (await editor.post("/jobs/j/test", json={"payload": {"n": 1}})).json()
        await trials.close()
    assert tried["outcome"] == "success", tried
    assert "Horae-Test: true" in tried["sent"]
    assert await query(store, "select * from instance_live") == []


async def test_calendars_are_put_read_and_listed_and_jobs_follow_them(admin, store):
    body = {"first": "2026-01-01", "last": "2030-12-31", "weekdays": [1, 2, 3, 4, 5], "removed": ["2026-12-25"]}
    put = await admin.put("/calendars/office", json=body)
    assert (put.status_code, put.json()["moved"]) == (200, [])
    rule = {"calendars": [{"calendar": "office"}]}
    made = await admin.post("/jobs", json={"name": "j", "cron": "0 9 * * *", "policies": rule})
    assert made.status_code == 201
    assert (await admin.get("/calendars/office")).json()["removed"] == ["2026-12-25"]
    assert [one["name"] for one in (await admin.get("/calendars")).json()["items"]] == ["office"]
    assert (await admin.get("/calendars/none")).status_code == 404
    bad = await admin.put("/calendars/office", json=body | {"last": "2025-01-01"})
    assert bad.status_code == 422
    assert await audited(store, "calendar.put") == 1


async def test_health_is_told_in_the_seeds_own_words(admin, platform, store):
    for asking in (admin, platform):
        told = (await asking.get("/scheduler/health")).json()
        assert (told["mode"], told["triggerDelayP95Ms"], told["successRate10m"]) == ("DEGRADED", 0, 1.0)
        assert {cause["kind"] for cause in told["causes"]} == {"SHARDS_UNHELD"}, "no node runs here"
        assert {"retryBacklog", "dlqGrowthPerMin", "backlog"} <= set(told)
    assert (await platform.get("/nodes")).json() == {"nodes": [], "cells_down": []}
    shards = (await platform.get("/shards", params={"limit": 10, "after": 5})).json()
    assert [one["shard"] for one in shards] == list(range(6, 16))
    assert (await admin.get("/nodes")).status_code == 403


async def test_the_platform_sees_how_each_cell_grows(admin, platform, store):
    names = [cell.name for cell in store.cells]
    nothing = {"cells": [], "unmeasured": names, "cells_down": []}
    answer = (await platform.get("/scheduler/growth")).json()
    measured = answer.pop("measured")
    assert answer == nothing
    assert (measured["cell_fires_per_s"], measured["cell_source"]) == (STORE.fires_per_s, STORE.source)
    await GrowthMeter(store, 14, {names[0]: 2**40}).once()
    one, other = (await platform.get("/scheduler/growth")).json()["cells"]
    assert (one["cell"], one["disk_bytes"], other["disk_bytes"]) == (names[0], 2**40, None)
    assert (one["kept_days"], one["days_ahead"], one["held"], one["days_until_full"]) == (14, 8, None, None)
    assert one["database_bytes"] > 2**20
    assert "day" in one["days"][-1]
    assert {"name", "bytes", "live_rows", "dead_rows", "bloated"} == set(one["tables"][0])
    assert (await admin.get("/scheduler/growth")).status_code == 403


async def test_a_job_that_names_a_quota_twice_is_refused(admin, job):
    called = {"version": 1, **CRON, "target": {"kind": "http", "url": "https://example.com/"}}
    twice = await admin.put("/jobs/coupon_job", json={**called, "quotas": ["db", "mail", "db"]})
    assert (twice.status_code, twice.json()["code"]) == (422, "SCH_422_INVALID")
    assert "each quota once" in twice.text
    once = await admin.put("/jobs/coupon_job", json={**called, "quotas": ["db", "mail"]})
    assert once.status_code == 200
