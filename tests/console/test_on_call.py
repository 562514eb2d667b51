"""What an on-call person needs: which jobs fail now, what waits, since when, in which zone."""

import re

from playwright.async_api import expect

from tests.console.scene import QUICK, Scene
from tests.steps import until


async def failed_runs(served, home) -> None:
    """A job whose last run died, and one that nobody takes from its queue."""
    scene = Scene(served, home)
    bad = await scene.job("ship_orders", owner="orders-team", retry=QUICK, runbook="https://wiki.example.com/ship")
    await scene.job("count_stock", owner="stock-team")
    await scene.ended(await scene.trigger("ship_orders"))
    await scene.fails(bad, *([503] * 8))
    for _ in range(2):
        await scene.ended(await scene.trigger("ship_orders"))
    await scene.ended(await scene.trigger("count_stock"))


async def test_the_overview_names_the_failing_job_and_leads_to_its_rows(desk, home, served, words):
    await failed_runs(served, home)
    [worst] = (await home.ask("GET", "/problem-jobs"))["items"]
    assert (worst["name"], worst["is_failing"], worst["dead"]) == ("ship_orders", True, 2)
    await desk.open("/")
    row = desk.page.locator("#problem-jobs tbody tr")
    await expect(row).to_have_count(1)
    for text in ("ship_orders", "orders-team", words("onCall.problems.failing")):
        await expect(row).to_contain_text(text)
    await expect(row.locator(".mark")).to_have_count(len(worst["recent_runs"]))
    await row.get_by_role("link", name=str(worst["dead"]), exact=True).click()
    await desk.settled()
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(worst["dead"])
    await desk.open("/?owner=stock-team")
    await expect(desk.page.locator("#problem-jobs")).to_contain_text(words("onCall.problems.none"))


async def test_the_figures_of_the_overview_are_those_of_the_api_and_lead_to_their_rows(desk, home, served, words):
    await failed_runs(served, home)

    async def health() -> dict:
        return await home.ask("GET", "/scheduler/health")

    async def counted() -> bool:
        return (await health())["fires10m"] > 0

    await served.pass_time(seconds=61)
    await until(counted, 90)
    await desk.open("/")
    said = await health()
    figures = desk.page.locator("dl.figures").first
    fires = figures.locator("dd").nth(2)
    await expect(fires).to_have_text(f"{said['fires10m']:,}")
    await fires.get_by_role("link").click()
    await desk.settled()
    assert "/instances" in desk.page.url


async def test_the_jobs_list_shows_how_each_job_ended_and_its_page_leads_to_runs_and_dead_letters(
    desk, home, served, words
):
    await failed_runs(served, home)
    await desk.open("/jobs")
    row = desk.page.locator(".rows tbody tr", has_text="ship_orders")
    await expect(row).to_contain_text(words("states.DEAD"))
    await expect(desk.page.locator(".rows tbody tr", has_text="count_stock")).to_contain_text(words("states.SUCCESS"))
    await row.get_by_role("link", name="ship_orders").click()
    await desk.page.get_by_role("link", name=words("jobs.view.runs")).click()
    await desk.settled()
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(3)
    await desk.open("/jobs/ship_orders")
    await desk.page.locator("nav.views").get_by_role("link", name=words("jobs.view.deadLetters")).click()
    await desk.settled()
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(2)


async def test_every_time_has_its_zone_and_the_switch_changes_all_of_them(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("report", cron="0 0 9 * * ?", timezone="America/New_York")
    await desk.open("/jobs")
    shown = desk.page.locator(".rows time .zone-mark").first
    await expect(shown).to_have_text("+08:00")
    for choice, mark in (("utc", "UTC"), ("job", re.compile("-0[45]:00")), ("tenant", "UTC"), ("mine", "+08:00")):
        await desk.page.get_by_role("combobox", name=words("lists.zone.label")).click()
        await desk.page.get_by_title(words(f"lists.zone.{choice}"), exact=True).last.click()
        await expect(shown).to_have_text(mark)
    await desk.page.get_by_role("combobox", name=words("lists.zone.label")).click()
    await desk.page.get_by_title(words("lists.zone.utc"), exact=True).last.click()
    await desk.open("/instances")
    since = desk.page.get_by_label(words("instances.filters.since"), exact=True)
    await since.fill("2030-01-31T08:00:00")
    await expect(desk.page).to_have_url(re.compile("since=.*2030-01-31T08.*00.*00.*Z"))
    await expect(since).to_have_value(re.compile("2030-01-31T08:00"))


async def test_the_audit_log_names_keys_instead_of_their_ids(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("report")
    key = (await home.ask("GET", "/keys"))["items"][0]
    await desk.open("/audit")
    row = desk.page.locator(".rows tbody tr", has_text="job.created")
    await expect(row.get_by_text(key["name"], exact=True)).to_be_visible()
