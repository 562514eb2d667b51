"""What a row holds is shown, whatever bounds requests have today: one odd row hides no list."""

from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from annotated_types import BaseMetadata
from msgspec.structs import replace

from horae.api import app
from horae.api.models.base import ResponseModel
from horae.api.models.base import _is_known as is_known_time
from horae.domain.errors import Invalid
from horae.domain.instances.retries import RetryPolicy
from horae.domain.limits.limits import Limit
from horae.domain.schedules import Misfire, OnMisfire, Policies, misfire
from horae.domain.tenants.tenants import Allowance
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from tests.steps import a_job, a_type, query

SHANGHAI = timezone(timedelta(hours=8))
EPOCH = "1970-01-01T00:00:00+08:00"
"""Half past four in the afternoon of 1969, by UTC."""
BEYOND = [
    Policies(max_count=2_000_000),
    Policies(misfire=Misfire(max_lateness=99_999_999.0)),
    Policies(misfire=Misfire(OnMisfire.ALL, pace=99_999_999.0)),
    Policies(start=datetime(1970, 1, 1, tzinfo=SHANGHAI)),
    Policies(end=datetime(9000, 1, 1, tzinfo=UTC)),
]


@pytest.mark.parametrize("policies", BEYOND, ids=range(len(BEYOND)))
async def test_a_job_that_an_older_release_made_is_shown_beside_the_others(ctx, admin, monkeypatch, policies):
    monkeypatch.setattr(jobs, "check_policies", lambda _policies: None)
    monkeypatch.setattr(misfire, "check", lambda _misfire: None)
    await a_job(ctx, "odd", policies=policies, retry=RetryPolicy(longest=1e6), limit=Limit(rate=2e9))
    await a_job(ctx, "even")
    page = await admin.get("/jobs")
    assert page.status_code == 200, page.text
    assert {one["name"] for one in page.json()["items"]} == {"odd", "even"}
    shown = (await admin.get("/jobs/odd")).json()
    assert (shown["retry"]["longest"], shown["limit"]["rate"]) == (1e6, 2e9)
    assert shown["policies"]["misfire"]["cap"] is None
    assert all(shown["policies"][name] is None or shown["policies"][name].endswith("Z") for name in ("start", "end"))
    assert (await admin.post("/jobs/odd/pause")).status_code == 200


@pytest.mark.parametrize("policies", BEYOND, ids=range(len(BEYOND)))
async def test_what_the_api_refuses_no_other_door_takes(ctx, policies):
    with pytest.raises(Invalid):
        await a_job(ctx, policies=policies)
    made = await a_job(ctx)
    with pytest.raises(Invalid):
        await schedules.update(ctx, made.name, replace(made.definition, policies=policies))


async def test_a_time_is_judged_as_utc_has_it(admin):
    job = {"name": "x", "cron": "0 0 * * *", "policies": {"start": EPOCH}}
    assert (await admin.post("/jobs", json=job)).status_code == 422
    assert (await admin.post("/jobs", json={"name": "t", "trigger": {"kind": "keyed"}})).status_code == 201
    assert (await admin.put("/tasks/t/k", json={"at": EPOCH})).status_code == 422
    late = "8999-12-31T23:00:00-08:00"
    assert (await admin.put("/tasks/t/k", json={"at": late})).status_code == 422
    first = "1969-12-31T20:00:00-08:00"
    assert (await admin.put("/tasks/t/k", json={"at": first})).status_code == 200
    assert (await admin.get("/jobs")).status_code == 200
    shown = (await admin.get("/tasks/t/k")).json()
    assert shown["decisions"][0]["at"] == "1970-01-01T04:00:00Z"


async def test_a_decision_of_an_older_release_is_shown(ctx, admin, monkeypatch):
    await a_type(ctx, "t")
    monkeypatch.setattr(tasks.rules, "check_time", lambda _at: None)
    await tasks.schedule(ctx, "t", "k", at=datetime(1970, 1, 1, tzinfo=SHANGHAI))
    shown = await admin.get("/tasks/t/k")
    assert (shown.status_code, shown.json()["decisions"][0]["at"]) == (200, "1969-12-31T16:00:00Z")


async def test_an_allowance_beyond_the_bounds_is_shown(store, tenant, platform):
    await tenants.allow(
        PlatformContext(store, "test"),
        tenant.name,
        Allowance(limit=Limit(rate=2e9), quotas={"q": Limit(concurrency=7)}),
    )
    shown = (await platform.get(f"/tenants/{tenant.name}")).json()["allowance"]
    assert (shown["limit"]["rate"], shown["quotas"]["q"]["concurrency"], shown["counts"]["jobs"]) == (2e9, 7, 300_000)


async def test_a_role_of_a_newer_release_grants_nothing_and_hides_nothing(store, tenant, client, admin):
    viewer = await client(Role.VIEWER)
    added = "update role_binding set roles = roles || '{future}'::text[] where 'viewer' = any(roles)"
    for cell in store.cells:
        await query(cell, added)
    assert (await viewer.get("/jobs")).status_code == 200
    assert (await viewer.post("/jobs", json={"name": "x"})).status_code == 403
    listed = await admin.get("/role-bindings")
    assert (listed.status_code, ["viewer"] in [one["roles"] for one in listed.json()["items"]]) == (200, True)
    assert (await admin.get("/keys")).status_code == 200


def kinds_in(kind):
    yield kind
    for inner in get_args(kind):
        yield from kinds_in(inner)


def views(base=ResponseModel):
    for one in base.__subclasses__():
        yield one
        yield from views(one)


def test_no_view_judges_a_value_by_the_rules_for_requests():
    assert app.make  # every model is imported
    judging = [
        f"{view.__name__}.{name}"
        for view in views()
        for name, field in view.model_fields.items()
        for found in (*field.metadata, *(part for kind in kinds_in(field.annotation) for part in get_args(kind)[1:]))
        if isinstance(found, BaseMetadata) or getattr(found, "func", None) is is_known_time
    ]
    assert judging == []
