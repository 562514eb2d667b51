"""Incidents over HTTP, for admins of the platform."""

from uuid import uuid4

from horae.domain.ids import Prefix, private
from horae.upkeep.recovery import RecoveryExecutor
from tests.upkeep.recovering import complete, hold_shards

INCIDENTS = "/incidents"
ASKED = {"grade": "P1", "reason": "the primary is lost"}


async def test_an_incident_is_started_watched_and_ends_with_its_timeline(platform, admin, ctx, store):
    started = (await platform.post(INCIDENTS, json=ASKED)).json()
    assert (started["step"], started["grade"], started["result"]) == ("FREEZE", "P1", None)
    again = await platform.post(INCIDENTS, json=ASKED)
    assert (again.status_code, again.json()["code"]) == (409, "SCH_409_CONFLICT")
    await hold_shards(store)
    await RecoveryExecutor(store, uuid4()).once()
    health = (await admin.get("/scheduler/health")).json()
    assert (health["incident"]["id"], health["incident"]["grade"]) == (started["id"], "P1")
    [listed] = (await platform.get(INCIDENTS)).json()
    assert (listed["step"], listed["error"]) == ("AUDIT", "fires are audited two minutes later")
    await complete(store, private(Prefix.INCIDENT, started["id"]))
    shown = (await platform.get(f"{INCIDENTS}/{started['id']}")).json()
    assert (shown["result"], shown["summary"]["findings"]) == ("RECOVERY_COMPLETED", 0)
    assert shown["timeline"][0]["step"] == "FREEZE"
    assert (await admin.get("/scheduler/health")).json()["incident"] is None


async def test_an_incident_is_stopped_with_a_reason_and_only_by_the_platform(platform, admin):
    started = (await platform.post(INCIDENTS, json={**ASKED, "fault_at": "2026-01-01T00:00:00Z"})).json()
    assert started["code"] == "SCH_422_INVALID", "that is too long ago"
    started = (await platform.post(INCIDENTS, json=ASKED)).json()
    stopped = await platform.post(f"{INCIDENTS}/{started['id']}/stop", json={"reason": "a false alarm"})
    assert stopped.json()["stop_requested"] is True
    for answer in (await admin.get(INCIDENTS), await admin.post(INCIDENTS, json=ASKED)):
        assert answer.status_code == 403
