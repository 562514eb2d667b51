"""The pages of incidents show people of the platform how far recovery is, step by step, and nobody else."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID, uuid4

from playwright.async_api import Locator, expect

from horae.domain.ids import shard_in
from horae.domain.incidents.incidents import Incident, IncidentGrade, IncidentResult, RecoveryStep, next_step
from horae.runtime.randomness import new_id
from horae.store.cells import Cell
from horae.store.incidents import entries, incidents
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page

REASON = "the primary of cell-0 is lost"
DONE: dict[RecoveryStep, dict[str, object]] = {
    RecoveryStep.FREEZE: {"cells": ["cell-0", "cell-1"]},
    RecoveryStep.REACH_CELLS: {"cells": 2, "rpo_s": 0.0},
    RecoveryStep.HOLD_SHARDS: {"shards": 4096, "unheld": 0},
    RecoveryStep.FIRE_CRITICAL: {"overdue": 0},
    RecoveryStep.CATCH_UP: {"overdue": 7, "missing": "7 fires are overdue"},
    RecoveryStep.REPLAY_EVENTS: {},
    RecoveryStep.REQUEUE: {"tag": "transient_error"},
}
AUDITED = {"jobs": 12, "expected": 1200, "findings": 1}
NAMED = [{"fault": "MISSING", "job": "coupon_job", "at": "2030-03-04T02:00:00+00:00"}]


class Coordinator:
    """Works on an incident in place of the node, which would replay the dead letters of other tests."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._me = uuid4()

    async def start(self, tenant_id: UUID) -> Incident:
        """Start an incident whose fault was two minutes ago, and have its lease before a node sees it."""
        async with self.cell.tx() as tx:
            id_ = new_id(shard_in(tenant_id), tx.now)
            fault_at = tx.now - timedelta(minutes=2)
            await incidents.start(tx, id_, IncidentGrade.P1, REASON, "user:grace", fault_at)
            started = await incidents.take(tx, id_, self._me, timedelta(days=1))
        assert started is not None
        return started

    async def end_step(
        self, incident: Incident, to: RecoveryStep, facts: Mapping[str, object], result: IncidentResult | None = None
    ) -> Incident:
        """End the present step."""
        async with self.cell.tx() as tx:
            await entries.append(tx, incident.id, incident.step, "", facts)
            advanced = await incidents.advance(tx, incident, self._me, to, result)
        assert advanced is not None
        return advanced

    async def requeue(self, incident: Incident) -> None:
        """Write two parts of the step that requeues dead letters."""
        async with self.cell.tx() as tx:
            for part, requeued in (("0", 200), ("1", 41)):
                facts = {"requeued": requeued, "refused": 0, "last": str(uuid4())}
                await entries.append(tx, incident.id, RecoveryStep.REQUEUE, part, facts)

    async def wait(self, incident: Incident, error: str) -> None:
        """Record what the present step waits for."""
        async with self.cell.tx() as tx:
            await incidents.record_error(tx, incident.id, self._me, error)


async def test_the_platform_follows_an_incident_to_its_end(served, browser, home, words):
    platform = await served.platform()
    coordinator = Coordinator(served.store.cell(shard_in(platform.tenant.id)))
    incident = await coordinator.start(platform.tenant.id)
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        try:
            await desk.log_in(home.key)
            await desk.open("/")
            await expect(desk.page.get_by_text(words.containing("incidents.open", grade="P1"))).to_be_visible()
            await expect(desk.page.get_by_role("link", name=words("incidents.title"), exact=True)).to_have_count(0)
            await desk.log_out()
            for step, facts in DONE.items():
                if step is RecoveryStep.REQUEUE:
                    await coordinator.requeue(incident)
                incident = await coordinator.end_step(incident, next_step(step), facts)
            await coordinator.wait(incident, "fires are audited two minutes later")
            await desk.log_in(platform.key)
            await desk.open("/")
            await desk.page.get_by_role("link", name=words("incidents.title"), exact=True).click()
            row = desk.page.get_by_role("row").filter(has_text=REASON).first  # the newest
            await expect(row).to_contain_text(words("incidents.steps.AUDIT"))
            await expect(row).to_contain_text(words("incidents.grades.P1"))
            await check_page(desk, "incidents")
            await row.get_by_role("link").click()
            rows = desk.page.get_by_role("table", name=words("incidents.timeline.title")).get_by_role("row")

            def of(step: str) -> Locator:
                return rows.filter(has_text=words(f"incidents.steps.{step}"))

            await expect(of("HOLD_SHARDS")).to_contain_text(f"{words('incidents.factNames.shards')}: 4,096")
            await expect(of("CATCH_UP")).to_contain_text("7 fires are overdue")
            await expect(of("CATCH_UP")).to_contain_text(words("incidents.statuses.givenUp"))
            await expect(of("REQUEUE")).to_contain_text(f"{words('incidents.factNames.requeued')}: 241")
            await expect(of("AUDIT")).to_contain_text("fires are audited two minutes later")
            await expect(of("AUDIT")).to_contain_text(words("incidents.timeline.deadline"))
            await expect(of("LIFT")).to_contain_text(words("incidents.statuses.next"))
            await check_page(desk, "incident")
        finally:
            incident = await coordinator.end_step(incident, RecoveryStep.LIFT, AUDITED | {"named": NAMED})
            lifted = {"cells": ["cell-0", "cell-1"]}
            await coordinator.end_step(incident, RecoveryStep.ENDED, lifted, IncidentResult.RECOVERY_COMPLETED)
        await desk.until_seen(desk.page.get_by_text(words("incidents.results.RECOVERY_COMPLETED"), exact=True), every=5)
        summary = desk.page.get_by_role("region", name=words("incidents.summary.title"))
        await expect(summary).to_contain_text("2 min")
        await expect(summary).to_contain_text("241")
        await expect(desk.page.get_by_role("row").filter(has_text="coupon_job")).to_contain_text("MISSING")
        await check_page(desk, "incident-ended")
        desk.ears.check()
