"""The history of drills over HTTP, for people of the platform."""

from tests.api.past_drills import record_drill

DRILLS = "/drills"


async def test_drills_are_listed_newest_first_with_their_figures(platform, store):
    assert (await platform.get(DRILLS)).json() == {"items": [], "next": None, "cells_down": []}
    await record_drill(store, 60)
    fault = "RTO 1900 s is above its target of 1800 s"
    await record_drill(store, 30, kind="restore", rto_s=1900.0, rpo_s=None, faults=(fault,))
    newest, oldest = (await platform.get(DRILLS)).json()["items"]
    assert (newest["kind"], newest["passed"], newest["rto_s"], newest["rpo_s"]) == ("restore", False, 1900.0, None)
    assert (newest["faults"], newest["rto_target_s"], newest["rpo_target_s"]) == ([fault], 1800.0, 60.0)
    assert (oldest["kind"], oldest["passed"], oldest["rto_s"], oldest["rpo_s"]) == ("node-loss", True, 4.2, 0.0)
    assert (oldest["actor"], oldest["reason"], oldest["faults"]) == ("root@host-1", "monthly drill", [])
    assert oldest["began_at"] < oldest["broken_at"] < oldest["restored_at"] < oldest["ended_at"] < newest["began_at"]
    assert oldest["report_sha256"] == f"{60:064x}"


async def test_a_cursor_leads_to_older_drills(platform, store):
    for days_ago in (90, 60, 30):
        await record_drill(store, days_ago, rto_s=float(days_ago))
    first = (await platform.get(DRILLS, params={"limit": 2})).json()
    assert [one["rto_s"] for one in first["items"]] == [30.0, 60.0]
    rest = (await platform.get(DRILLS, params={"limit": 2, "cursor": first["next"]})).json()
    assert ([one["rto_s"] for one in rest["items"]], rest["next"]) == ([90.0], None)


async def test_a_tenant_does_not_see_drills(admin):
    assert (await admin.get(DRILLS)).status_code == 403
