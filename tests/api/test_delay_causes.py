"""The likely causes of late fires in the health of the platform; tenants do not see each other."""

from uuid import uuid4

from horae.domain.health.signals import AttemptResult
from horae.domain.instances.instances import Lane, Priority
from horae.upkeep.signals import Signaller


async def test_the_platform_sees_why_fires_are_late_and_a_tenant_does_not(store, tenant, platform, admin):
    counts = store.cells[0].signal_counts
    counts.count_delays(tenant.id, Priority.NORMAL, Lane.FIRST, *[4000] * 50)
    counts.count_result(tenant.id, Priority.NORMAL, Lane.FIRST, AttemptResult.SUCCESS, 50)
    await Signaller(store, uuid4()).once()
    health = (await platform.get("/scheduler/health")).json()
    causes = {cause["kind"]: cause for cause in health["delayCauses"]}
    assert causes["TENANT_HERD"]["subject"] == tenant.name
    assert causes["TENANT_HERD"]["figures"]["fires"] == 50
    assert causes["CELL"]["subject"] == store.cells[0].name
    assert (await admin.get("/scheduler/health")).json()["delayCauses"] == []
