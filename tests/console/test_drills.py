"""The page of drills shows people of the platform the history of RTO and RPO, and nobody else."""

from playwright.async_api import expect

from horae.store.store import Store
from tests.api.past_drills import record_drill
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page

FAULT = "RTO 1900 s is above its target of 1800 s"


async def test_the_platform_sees_drills_with_rto_and_rpo_over_time(served, browser, home, words):
    platform = await served.platform()
    if not (await platform.ask("GET", "/drills"))["items"]:  # in the other language they are there already
        await record_history(served.store)
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(home.key)
        await desk.open("/")
        link = desk.page.get_by_role("link", name=words("drills.title"), exact=True)
        await expect(link).to_have_count(0)
        await desk.log_out()
        await desk.log_in(platform.key)
        await desk.open("/")
        await link.click()
        rows = desk.page.get_by_role("table", name=words("drills.title")).get_by_role("row")
        failed = rows.filter(has_text=words("drills.kinds.restore"))
        for text in (FAULT, words("drills.failed"), words("drills.notKnown"), "31 min 40 s"):
            await expect(failed).to_contain_text(text)
        passed = rows.filter(has_text=words("drills.kinds.node-loss"))
        await expect(passed).to_have_count(3)
        for text in (words("drills.passed"), "3.1 s", "0 s", "monthly drill", "root@host-1"):
            await expect(passed.first).to_contain_text(text)
        summary = words("drills.charts.rto_s.summary", drills=7, maximum="31 min 40 s")
        await expect(desk.page.get_by_role("img", name=summary).locator("canvas")).to_be_visible()
        await check_page(desk, "drills")
        desk.ears.check()


async def record_history(store: Store) -> None:
    """Record drills of three months: two kinds that passed each month, and a restore that did not."""
    for days_ago, rto_s in ((92, 7.5), (61, 4.2), (31, 3.1)):
        await record_drill(store, days_ago, rto_s=rto_s)
        await record_drill(store, days_ago - 1, kind="cell-loss", rto_s=rto_s * 2, how="SIGSTOP to cell-1")
    restored = {"kind": "restore", "rto_s": 1900.0, "rpo_s": None, "how": "cell-0 from its newest backup"}
    await record_drill(store, 1, faults=(FAULT, "it is not known what was lost"), **restored)
