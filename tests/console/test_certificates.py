"""Certificates by day: the outcome of each day of a year in one request, and the reason behind a fault."""

from playwright.async_api import expect

from tests.console.browser import profile
from tests.console.certified_days import SENTENCE, certified_days
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page
from tests.console.scene import Scene


async def test_a_day_with_faults_is_seen_in_its_year_and_leads_to_its_reason(served, browser, home, words):
    scene = Scene(served, home)
    faulty = (await certified_days(scene)).partition("=")[2]
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        asked = []
        desk.page.on("request", lambda one: asked.append(one.url) if "/api/v1/certificates" in one.url else None)
        await desk.log_in(home.key)
        await desk.open(f"/certificates/days?month={faulty[:7]}")
        days = desk.page.get_by_role("group", name=words("audit.days.map"))
        outcomes = {outcome: words(f"audit.days.outcome.{outcome}") for outcome in ("clean", "faults", "missing")}
        await expect(days.get_by_role("link", name=outcomes["faults"])).to_have_count(1)
        await expect(days.get_by_role("link", name=outcomes["clean"])).to_have_count(1)
        await expect(days.locator(f'[data-date="{faulty}"] [aria-hidden]')).to_have_text("!")
        assert await days.get_by_role("link", name=outcomes["missing"]).count() > 300
        assert len(asked) == 1, "the year is one request"
        await check_page(desk, "certificates by day")
        current = days.locator('a[tabindex="0"]')
        await expect(current).to_have_count(1)
        await current.focus()
        for _ in range(40):
            if await desk.page.locator("a:focus").get_attribute("data-date") == faulty:
                break
            await desk.page.keyboard.press("ArrowLeft")
        await desk.page.keyboard.press("Enter")
        findings = desk.page.get_by_role("table", name=words("audit.certificate.findings", count=1))
        await expect(findings).to_contain_text(SENTENCE)
        await check_page(desk, "a certificate with findings")
        desk.ears.check()
