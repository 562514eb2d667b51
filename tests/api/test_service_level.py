"""The service level over HTTP: a tenant sees its own, the platform the sum of all."""

from datetime import timedelta

import pytest

from horae.runtime.randomness import new_token
from horae.security.roles import Role
from horae.upkeep.service_level import LevelReader
from horae.upkeep.signals import Signaller
from tests.steps import a_job, move_clock


def count(store, tenant, in_time, late):
    for cell in store.cells:
        now = cell.clock.now()
        for number, is_late in ((in_time, False), (late, True)):
            cell.level_counts._add(now, tenant.id, 1, is_late, number)


@pytest.fixture
async def counted(store, tenant, other):
    """In each of two cells: 990 in time and 10 late of the one tenant, 1,000 in time of the other."""
    count(store, tenant, 990, 10)
    count(store, other, 1000, 0)
    await Signaller(store, new_token()).once()


@pytest.mark.usefixtures("counted")
async def test_each_tenant_sees_its_own_and_the_platform_all(admin, platform, client, other):
    mine = (await admin.get("/service-level")).json()
    assert (mine["objective"], mine["in_time_seconds"]) == (0.999, 10)
    total = mine["total"]
    assert (total["expected"], total["in_time"], total["late"], total["availability"]) == (2000, 1980, 20, 0.99)
    assert total["budget_remaining"] == pytest.approx(-9)
    assert total["burn_rates"]["1h"] == pytest.approx(10)
    assert total["burning"] == ["slow", "steady"], "ten times too fast, and not 14.4 times"
    assert [(one["cell"], one["priority"], one["late"]) for one in mine["parts"]] == [
        ("cell-0", "normal", 10),
        ("cell-1", "normal", 10),
    ]
    theirs = (await (await client(Role.VIEWER, of=other)).get("/service-level")).json()["total"]
    assert (theirs["expected"], theirs["late"], theirs["budget_remaining"]) == (2000, 0, 1)
    everyone = (await platform.get("/service-level")).json()["total"]
    assert (everyone["expected"], everyone["late"]) == (4000, 20)


@pytest.mark.usefixtures("counted")
async def test_a_burning_budget_is_a_cause_of_health(admin, client, other):
    kinds = [cause["kind"] for cause in (await admin.get("/scheduler/health")).json()["causes"]]
    assert kinds.count("BUDGET") == 2, "one for each cell"
    stranger = await client(Role.VIEWER, of=other)
    assert "BUDGET" not in (await stranger.get("/scheduler/health")).text


async def test_without_a_node_what_is_overdue_burns_the_budget_of_its_tenant_and_of_all(
    admin, platform, client, other, ctx, store
):
    await a_job(ctx, "job")
    await move_clock(store, minutes=3)
    stranger = await client(Role.VIEWER, of=other)
    for caller, overdue in ((admin, 1), (platform, 1), (stranger, 0)):
        told = (await caller.get("/service-level")).json()["total"]
        assert (told["overdue"], told["late"]) == (overdue, overdue)
        assert told["burning"] == (["fast", "slow", "steady"] if overdue else [])


@pytest.mark.usefixtures("counted")
async def test_metrics_have_budget_and_burn_rate_by_cell_and_priority_without_tenants(store, tenant):
    reader = LevelReader(store, 0.999)
    await reader.once()
    samples = {
        (sample.name, *sample.labels.values()): sample.value for family in reader.collect() for sample in family.samples
    }
    for cell in store.cells:
        assert samples["horae_error_budget_remaining_ratio", cell.name, "normal"] == pytest.approx(-4)
        assert samples["horae_error_budget_burn_rate", cell.name, "normal", "1h"] == pytest.approx(5)
        assert samples["horae_due_times", cell.name, "normal", "late"] == 10
        assert samples["horae_due_times_overdue", cell.name, "normal"] == 0
        assert samples["horae_due_times_served_total", cell.name, "normal", "in_time"] == 1990
    assert samples["horae_service_level_objective_ratio",] == 0.999
    assert str(tenant.id) not in str(samples)


@pytest.mark.usefixtures("counted")
async def test_old_counts_go_the_minutes_after_hours_and_the_days_after_a_month(admin, store):
    for days, spans in ((1, {"3d": 20, "30d": 20}), (5, {"30d": 20}), (40, {})):
        await move_clock(store, seconds=timedelta(days=days).total_seconds())
        await Signaller(store, new_token()).once()
        told = (await admin.get("/service-level")).json()["total"]["burn_rates"]
        assert {span for span, rate in told.items() if rate} == set(spans)
