"""Alerts over HTTP: listed with filters, acknowledged once, and channels that are tested."""

import pytest

from horae.domain.alerts.kinds import AlertKind
from horae.security.roles import Role
from tests.alerts.world import a_channel, alert_world, die, hook_server
from tests.steps import a_job


@pytest.fixture
async def hook():
    async with hook_server() as hook:
        yield hook


@pytest.fixture
async def world(ctx):
    async with alert_world(ctx.store, ctx.tenant.id) as world:
        yield world


@pytest.fixture
async def opened(ctx, world, hook):
    """Three jobs with dead letters, in two cells."""
    await a_channel(ctx, hook)
    await world.round()
    for number in range(3):
        await die(ctx, await a_job(ctx, f"job-{number}"), 2)
        await world.round(seconds=1)


async def test_alerts_are_listed_newest_first_with_filters_and_pages(admin, opened):
    first = (await admin.get("/alerts?limit=2")).json()
    rest = (await admin.get("/alerts", params={"limit": 2, "cursor": first["next"]})).json()
    assert [one["job"] for one in first["items"] + rest["items"]] == ["job-2", "job-1", "job-0"]
    assert rest["next"] is None
    [one] = (await admin.get("/alerts?state=OPEN&kind=dead_letter&job=job-1")).json()["items"]
    assert (one["count"], one["severity"], one["rule"]) == (2, "critical", "default:dead_letter")
    assert (await admin.get("/alerts?state=RESOLVED")).json()["items"] == []
    assert (await admin.get("/alerts?kind=nonsense")).status_code == 422


async def test_an_alert_is_acknowledged_by_who_may_and_shows_its_messages(admin, client, opened):
    id_ = (await admin.get("/alerts?job=job-0")).json()["items"][0]["id"]
    viewer = await client(Role.VIEWER)
    assert (await viewer.post(f"/alerts/{id_}/acknowledge")).status_code == 403
    shown = (await admin.post(f"/alerts/{id_}/acknowledge")).json()
    assert shown["state"] == "ACKNOWLEDGED"
    assert [(one["channel"], one["state"], one["status"]) for one in shown["messages"]] == [
        ("default", "SENT", "firing")
    ]
    again = (await admin.post(f"/alerts/{id_}/acknowledge")).json()
    assert again["acknowledged_at"] == shown["acknowledged_at"]
    assert (await admin.get("/alerts/alr_01hv3zq5k8e9r7t2m4n6p8s0v1")).status_code == 404


async def test_other_tenants_see_no_alert_and_no_channel(admin, client, other, opened):
    stranger = await client(Role.ADMIN, of=other)
    id_ = (await admin.get("/alerts")).json()["items"][0]["id"]
    assert (await stranger.get("/alerts")).json()["items"] == []
    assert (await stranger.get(f"/alerts/{id_}")).status_code == 404
    assert (await stranger.post(f"/alerts/{id_}/acknowledge")).status_code == 404
    assert (await stranger.get("/alert-channels/default")).status_code == 404


async def test_a_test_goes_the_way_of_an_alert(admin, ctx, world, hook):
    await a_channel(ctx, hook)
    made = await admin.post("/alert-channels/default/test")
    assert (made.status_code, made.json()["state"]) == (202, "PENDING")
    await world.deliver()
    assert [one["status"] for one in hook.got] == ["test"]
    assert (await admin.get(f"/alert-tests/{made.json()['id']}")).json()["state"] == "SENT"
    assert (await admin.post("/alert-channels/nobody/test")).status_code == 404


async def test_a_channel_shows_names_of_secrets_and_a_wrong_one_is_refused(admin):
    feishu = {"kind": "feishu", "url_secret": "hook", "signing": "sign", "language": "zh"}
    put = await admin.put("/alert-channels/feishu", json={"channel": feishu})
    assert (put.status_code, put.json()["channel"]) == (200, feishu)
    assert (await admin.get("/alert-channels/feishu")).json()["channel"] == feishu
    wrong = [{"kind": "email", "to": ["not an address"]}, {"kind": "pigeon"}, {"kind": "slack", "url_secret": 1}]
    for one in wrong:
        assert (await admin.put("/alert-channels/wrong", json={"channel": one})).status_code == 422
    assert (await admin.delete("/alert-channels/feishu")).status_code == 200
    assert (await admin.get("/alert-channels")).json()["items"] == []


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "cell_down"},
        {"kind": "breaker_open", "job": "job"},
        {"kind": "dead_letter", "threshold": 3},
        {"kind": "late", "repeat_after": 60},
        {"kind": "late", "resolve_after": 5},
        {"kind": "late", "channels": ["a", "a"]},
        {"kind": "nonsense"},
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused(admin, rule):
    assert (await admin.put("/alert-rules/wrong", json=rule)).status_code == 422


async def test_every_kind_that_a_tenant_may_have_can_be_a_rule(admin, platform):
    for kind in AlertKind:
        assert (await platform.put(f"/alert-rules/{kind}", json={"kind": kind})).status_code == 200, kind
    shown = (await platform.get("/alert-rules/no_success")).json()
    assert (shown["repeat_after"], shown["enabled"], shown["group_by"]) == (3600, True, "job")
    assert len((await platform.get("/alert-rules?limit=200")).json()["items"]) == len(AlertKind)


async def test_a_silence_is_put_shown_and_removed(admin):
    quiet = {"starts_at": "2035-01-01T08:00:00Z", "ends_at": "2035-01-01T09:00:00Z", "kinds": ["late"], "job": "job"}
    put = (await admin.put("/silences/night", json=quiet)).json()
    assert (put["kinds"], put["job"], put["changed_by"]) == (["late"], "job", put["changed_by"])
    backwards = quiet | {"ends_at": "2035-01-01T07:00:00Z"}
    assert (await admin.put("/silences/night", json=backwards)).status_code == 422
    assert (await admin.delete("/silences/night")).status_code == 200
    assert (await admin.get("/silences/night")).status_code == 404
