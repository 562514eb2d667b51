"""The page of quotas and limits: what is used, what is held back, and which tenants are near a limit."""

import re

from playwright.async_api import expect

from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold
from horae.store.limits import holds
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page
from tests.console.scene import Scene
from tests.steps import query


async def test_used_limits_held_calls_and_near_tenants_lead_to_their_rows(served, browser, home, words):
    platform, scene, name = await served.platform(), Scene(served, home), home.tenant.name
    allowance = {"counts": {"jobs": 3, "secrets": 5}, "limit": {"rate": 50}, "quotas": {"bank": {"concurrency": 4}}}
    await platform.ask("PUT", f"/tenants/{name}/allowance", allowance)
    for number in range(3):
        await scene.job(f"job-{number}")
    await scene.when("/tenant/usage", lambda answer: answer["uses"][0]["most"] == 3)
    await hold_back(served.store.cells[0], home.tenant.id, "quota/bank", 7)
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(home.key)
        await desk.open("/")
        await desk.page.get_by_role("link", name=words("frame.pages.limits"), exact=True).click()
        table = desk.page.get_by_role("table", name=words("limits.uses.title"))
        first = table.locator("tbody").get_by_role("row").first
        for text in (words("limits.uses.text", used=3, most=3, percent=100), words("limits.reached.jobs")):
            await expect(first).to_contain_text(text)
        await expect(first).to_contain_text(words("limits.uses.isReached"))
        await expect(desk.page.locator(".sentence")).to_have_text(
            words("limits.uses.sentence.reached", reached=1, near=0)
        )
        await expect(desk.page.locator("#nearest")).to_have_count(0)
        held = desk.page.locator("#held").get_by_role("row").filter(has_text="quota/bank")
        await expect(held).to_contain_text(words("limits.held.lanes.first"))
        await check_page(desk, "limits")
        await held.get_by_role("link", name=words("limits.held.instances", count=7)).click()
        await expect(desk.page).to_have_url(re.compile(r"/instances\?state="))
        await desk.go("/limits")
        await first.get_by_role("link", name=words("limits.kinds.jobs")).click()
        await expect(desk.page).to_have_url(re.compile(r"/jobs$"))
        await desk.log_out()
        await desk.log_in(platform.key)
        await desk.go("/limits")
        near = desk.page.locator("#nearest").get_by_role("row").filter(has_text=name)
        await expect(near).to_contain_text(words("limits.uses.text", used=3, most=3, percent=100))
        await check_page(desk, "limits of the platform")
        await near.get_by_role("link", name=name).click()
        await expect(desk.button("tenants.allowance.change")).to_be_visible()
        desk.ears.check()


async def hold_back(cell, tenant_id, name, waiting):
    """The node says that a limit holds calls of a tenant back."""
    [node] = await query(cell, "select incarnation from node where expires_at > now()")
    async with cell.tx() as tx:
        gate = GateName(GateKind.LIMIT, name)
        facts = {"reason": HoldReason.CONCURRENCY, "since": tx.now, "waiting": waiting}
        hold = Hold(tenant_id=tenant_id, gate=gate, lane=HeldLane.FIRST, **facts)
        await holds.write(tx, node["incarnation"], [], [hold])
