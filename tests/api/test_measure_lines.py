"""A tenant's own lines of protective measures: set with its allowance, and read by the judge in every cell."""

from horae.domain.measures.measures import MeasureLines
from horae.store.measures import measures
from horae.upkeep.copies import Copier


async def test_lines_of_a_tenant_are_part_of_its_allowance_and_reach_every_cell(store, tenant, platform):
    answer = await platform.put(f"/tenants/{tenant.name}/allowance", json={"measures": {"dlq_growth_per_min": 5}})
    assert answer.json()["allowance"]["measures"] == {
        "trigger_delay_p95_ms": 2000,
        "run_success_rate_10m": 0.995,
        "retry_backlog": 200_000,
        "dlq_growth_per_min": 5,
    }
    await Copier(store).once()
    for cell in store.cells:
        async with cell.tx() as tx:
            assert await measures.lines(tx) == {tenant.id: MeasureLines(dlq_growth_per_min=5)}
    taken_back = await platform.put(f"/tenants/{tenant.name}/allowance", json={})
    assert taken_back.json()["allowance"]["measures"] is None


async def test_a_line_must_be_one_that_a_signal_can_reach(tenant, platform):
    for lines in ({"retry_backlog": 0}, {"run_success_rate_10m": 1}, {"peak_load": 0.5}):
        answer = await platform.put(f"/tenants/{tenant.name}/allowance", json={"measures": lines})
        assert answer.status_code == 422, lines
