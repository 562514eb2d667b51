"""What a caller hears of an impossible schedule, and of one that fires more often than its tenant may (R-05)."""

import pytest

from horae.security.roles import Role
from tests.domain.cron.test_rows_expressions import IMPOSSIBLE
from tests.steps import query

CLOSE = "0,8,16,24,32,40,48,59 0,2,4,6,8,10,12,14,15 * * *"
"""Its two closest fires, at 14:59 and 15:00, are a minute apart, all others eight."""


@pytest.mark.parametrize(("text", "dialect"), IMPOSSIBLE[:1] + IMPOSSIBLE[5:6] + IMPOSSIBLE[8:9])
async def test_an_impossible_schedule_is_refused_by_name_and_leaves_nothing(admin, store, text, dialect):
    trigger = {"kind": "cron", "expression": text} | ({} if dialect is None else {"dialect": dialect.value})
    refused = await admin.post("/jobs", json={"name": "never", "trigger": trigger})
    assert (refused.status_code, refused.json().get("code")) == (422, "SCH_422_SCHEDULE"), refused.text
    assert "never fires" in refused.json()["detail"]
    assert await query(store, "select from job") == []
    assert (await admin.post("/jobs", json={"name": "daily", "cron": "0 9 * * *"})).is_success
    changed = await admin.put("/jobs/daily", json={"version": 1, "trigger": trigger})
    assert (changed.status_code, changed.json().get("code")) == (422, "SCH_422_SCHEDULE"), changed.text


async def test_the_shortest_period_is_each_tenants_own(admin, client, other, platform):
    stranger = await client(Role.ADMIN, of=other)
    await platform.put("/tenants/acme/allowance", json={"counts": {"shortest_period": 300}})
    refused = await admin.post("/jobs", json={"name": "often", "cron": CLOSE})
    assert (refused.status_code, refused.json().get("code")) == (422, "SCH_422_SCHEDULE")
    assert refused.json()["shortest_period"] == 300
    assert "these 60 s" in refused.json()["detail"]
    assert (await stranger.post("/jobs", json={"name": "often", "cron": CLOSE})).is_success
