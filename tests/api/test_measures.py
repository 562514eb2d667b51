"""Decisions about protective measures over HTTP, for admins of the platform."""

from horae.domain.ids import Prefix, public
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureName
from horae.domain.tenants.tenants import SYSTEM
from horae.security.roles import Role
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store.measures import measures
from tests.steps import query

DELAY = MeasureName.TRIGGER_DELAY_P95.value
OFF = {"in_force": False, "reason": "reports must go out"}
RECORDS = "select tenant_id, actor, detail from audit_log where action = 'measure.overridden' order by at"


async def decisions(store, tenant_id=PLATFORM_SCOPE):
    """What each cell knows of the decision about the delay."""
    found = []
    for cell in store.cells:
        async with cell.statement() as tx:
            states = [state for state in await measures.read(tx) if state.tenant_id == tenant_id]
        found.append(states[0].override if states else None)
    return found


async def test_a_decision_is_in_every_cell_and_in_the_list_until_it_is_lifted(platform, store):
    assert (await platform.get("/measures")).json() == []
    decided = (await platform.post(f"/measures/{DELAY}/override", json=OFF | {"in_force": True, "minutes": 5})).json()
    cells = [cell.name for cell in store.cells]
    assert decided == {"name": DELAY, "tenant": None, "cells": cells, "cells_down": []}
    [listed] = (await platform.get("/measures")).json()
    assert (listed["name"], listed["actions"]) == (DELAY, ["ASK_FOR_DISPATCHERS", "PAUSE_LOW"])
    assert (listed["override"]["in_force"], listed["override"]["reason"]) == (True, OFF["reason"])
    lifted = await platform.post(f"/measures/{DELAY}/lift", json={"reason": "they are out"})
    assert lifted.json() == decided
    assert await decisions(store) == [None, None]
    assert [one["override"] for one in (await platform.get("/measures")).json()] == [None]


async def test_a_decision_about_one_tenant_is_recorded_with_the_tenant_and_one_about_all_with_system(
    platform, store, tenant, other
):
    for name in (tenant.name, public(Prefix.TENANT, tenant.id)):
        decided = (await platform.post(f"/measures/{DELAY}/override", json=OFF | {"tenant": name})).json()
        assert decided["tenant"] == public(Prefix.TENANT, tenant.id)
    [listed] = (await platform.get("/measures")).json()
    assert (listed["tenant"], listed["tenant_name"]) == (decided["tenant"], tenant.name)
    assert [one.in_force for one in await decisions(store, tenant.id)] == [False, False]
    await platform.post(f"/measures/{DELAY}/lift", json={"tenant": other.name, "reason": "none was there"})
    await platform.post(f"/measures/{DELAY}/override", json=OFF)
    [first, again, lifted, whole] = await query(store, RECORDS)
    assert [row["tenant_id"] for row in (first, again, lifted)] == [tenant.id, tenant.id, other.id]
    assert whole["tenant_id"] not in (tenant.id, other.id)
    assert whole["detail"]["reason"] == OFF["reason"]
    assert whole["actor"].startswith("key")
    assert len({row["actor"] for row in (first, again, lifted, whole)}) == 1
    assert len(await query(store, "select from outbox where event = 'MEASURE_OVERRIDDEN'")) == 4


REFUSALS = (
    ("weather/override", OFF, 422),
    (f"{DELAY}/override", OFF | {"minutes": 7 * 24 * 60 + 1}, 422),
    (f"{DELAY}/override", OFF | {"minutes": 0}, 422),
    (f"{DELAY}/override", {"in_force": True}, 422),
    (f"{DELAY}/override", OFF | {"tenant": "nobody"}, 404),
    (f"{DELAY}/lift", {"reason": ""}, 422),
)


async def test_a_decision_needs_a_reason_an_end_and_names_that_exist(platform, store):
    for path, asked, status in REFUSALS:
        assert (await platform.post(f"/measures/{path}", json=asked)).status_code == status, (path, asked)
    assert await query(store, RECORDS) == []
    assert await decisions(store) == [None, None]


async def test_only_admins_of_the_platform_decide(admin, client, store):
    system = await tenants.create(PlatformContext(store, "test"), SYSTEM, width=1)
    assert (await admin.get("/measures")).status_code == 403
    for asking in (admin, await client(Role.OPERATOR, of=system)):
        for verb, asked in (("override", OFF), ("lift", {"reason": "over"})):
            assert (await asking.post(f"/measures/{DELAY}/{verb}", json=asked)).status_code == 403
    assert (await (await client(Role.VIEWER, of=system)).get("/measures")).status_code == 200
    assert await decisions(store) == [None, None]
