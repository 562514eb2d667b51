"""F11: a tenant has as many jobs, subscriptions, intakes, sources, secrets and calendars as it may, and no more."""

import pytest

MAX_SUBSCRIPTIONS = 100
"""A tenant's default."""
TOPIC = {"kind": "topic", "broker": "main", "topic": "acme.x"}
QUIET = {"starts_at": "2035-01-01T08:00:00Z", "ends_at": "2035-01-01T09:00:00Z"}
MAKING = {
    "jobs": lambda n: ("POST", "/jobs", {"name": f"j{n}", "cron": "0 * * * *"}),
    "subscriptions": lambda n: ("PUT", f"/subscriptions/s{n}", {"sink": TOPIC}),
    "alert_channels": lambda n: (
        "PUT",
        f"/alert-channels/c{n}",
        {"channel": {"kind": "email", "to": ["ops@example.com"]}},
    ),
    "alert_rules": lambda n: ("PUT", f"/alert-rules/r{n}", {"kind": "dead_letter"}),
    "silences": lambda n: ("PUT", f"/silences/s{n}", QUIET),
    "intakes": lambda n: ("PUT", f"/intakes/i{n}", {"source": TOPIC}),
    "sources": lambda n: ("PUT", f"/sources/type{n}", {"origin": {"kind": "push"}}),
    "secrets": lambda n: ("PUT", f"/secrets/s{n}", {"value": "hidden"}),
    "calendars": lambda n: ("PUT", f"/calendars/c{n}", {"first": "2026-01-01", "last": "2026-12-31"}),
}


async def allow(platform, **counts):
    """What a platform's admin does; at b2a65e3 the field is not known, and everything stays allowed."""
    return await platform.put("/tenants/acme/allowance", json={"counts": counts})


@pytest.mark.parametrize("kind", sorted(MAKING))
async def test_one_more_than_a_tenant_may_have_is_refused(admin, platform, kind, tenant):
    await allow(platform, **{kind: 2})  # first: an API process remembers bounds for two seconds
    for n in range(3) if kind == "sources" else ():
        assert (await admin.post("/jobs", json={"name": f"type{n}", "trigger": {"kind": "keyed"}})).is_success
    for n in range(2):
        method, path, body = MAKING[kind](n)
        made = await admin.request(method, path, json=body)
        assert made.is_success, made.text
    method, path, body = MAKING[kind](2)
    refused = await admin.request(method, path, json=body)
    assert (refused.status_code, refused.json().get("code")) == (409, "SCH_409_COUNT_REACHED")
    assert refused.json()["most"] == 2
    if method == "PUT":  # what is there is changed, however many there are
        method, path, body = MAKING[kind](1)
        assert (await admin.request(method, path, json=body)).is_success


async def test_a_removed_job_makes_room_for_another(admin, platform):
    await allow(platform, jobs=1)
    assert (await admin.post("/jobs", json={"name": "a", "cron": "0 * * * *"})).is_success
    assert (await admin.post("/jobs", json={"name": "b", "cron": "0 * * * *"})).status_code == 409
    assert (await admin.delete("/jobs/a")).is_success
    assert (await admin.post("/jobs", json={"name": "b", "cron": "0 * * * *"})).is_success


async def test_a_request_that_is_repeated_under_its_key_is_answered_where_no_more_may_be_made(admin, platform):
    await allow(platform, jobs=1)
    new = {"name": "a", "cron": "0 * * * *"}
    first = await admin.post("/jobs", json=new, headers={"Idempotency-Key": "k"})
    again = await admin.post("/jobs", json=new, headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()


@pytest.mark.parametrize(
    "trigger", [{"cron": "*/10 * * * * *"}, {"trigger": {"kind": "interval", "every": 30}}, {"cron": "* * * * * *"}]
)
async def test_fires_that_are_too_close_to_each_other_are_refused(admin, platform, trigger):
    await allow(platform, shortest_period=60)
    refused = await admin.post("/jobs", json={"name": "often", **trigger})
    assert (refused.status_code, refused.json().get("code")) == (422, "SCH_422_SCHEDULE")
    assert "60 s apart" in refused.json()["detail"]
    assert (await admin.post("/jobs", json={"name": "calm", "cron": "* * * * *"})).is_success
    changed = await admin.put("/jobs/calm", json={"version": 1, **trigger})
    assert (changed.status_code, changed.json().get("code")) == (422, "SCH_422_SCHEDULE")


async def test_a_default_counts_where_nobody_named_a_bound(admin):
    for n in range(MAX_SUBSCRIPTIONS):
        method, path, body = MAKING["subscriptions"](n)
        assert (await admin.request(method, path, json=body)).is_success
    method, path, body = MAKING["subscriptions"](MAX_SUBSCRIPTIONS)
    assert (await admin.request(method, path, json=body)).status_code == 409


async def test_the_bounds_are_shown_and_have_defaults(tenant, platform):
    assert (await platform.get("/tenants/acme")).json()["allowance"]["counts"] == {
        "jobs": 300_000,
        "subscriptions": MAX_SUBSCRIPTIONS,
        "intakes": 100,
        "sources": 1_000,
        "secrets": 1_000,
        "calendars": 100,
        "calendar_days": 100_000,
        "keys": 1_000,
        "bindings": 10_000,
        "alert_channels": 100,
        "alert_rules": 200,
        "silences": 200,
        "shortest_period": 1.0,
    }
    said = await allow(platform, jobs=-1)
    assert said.status_code == 422
    assert (await allow(platform, jobs=7)).json()["allowance"]["counts"]["jobs"] == 7
    shown = (await platform.get("/tenants/acme")).json()["allowance"]["counts"]
    assert set(shown) == {*MAKING, "calendar_days", "keys", "bindings", "shortest_period"}
    assert (shown["jobs"], shown["secrets"]) == (7, 1_000)


async def test_the_single_days_of_all_calendars_are_counted_together(admin, platform):
    def named(many, first="2026-01-01"):
        days = [f"2026-02-{day:02}" for day in range(1, many + 1)]
        return {"first": first, "last": "2026-12-31", "weekdays": [], "added": days}

    await allow(platform, calendar_days=10)
    assert (await admin.put("/calendars/a", json=named(6))).is_success
    refused = await admin.put("/calendars/b", json=named(5))
    assert (refused.status_code, refused.json().get("code")) == (409, "SCH_409_COUNT_REACHED")
    assert refused.json()["most"] == 10
    assert (await admin.put("/calendars/b", json=named(4))).is_success
    assert (await admin.put("/calendars/a", json=named(7))).status_code == 409
    assert (await admin.put("/calendars/a", json=named(6, first="2025-01-01"))).is_success, "no day more than it had"
