"""The load forecast: from the heatmap to the jobs of a busy second, to a plan that spreads them; and one job more."""

import re

from playwright.async_api import expect

from tests.console.browser import NARROW
from tests.console.page_checks import WIDER
from tests.console.scene import Scene

HERD = [f"herd-{number}" for number in range(6)]
HOURLY = {"cron": "0 0 * * * ?"}


async def herd(served, home) -> None:
    """Six hourly jobs, and one that needs its exact second. All fire in one second of each hour."""
    scene = Scene(served, home)
    for name in HERD:
        await scene.job(name, **HOURLY, owner="growth")
    await scene.job("settlement", **HOURLY, policies={"spread": {"exact": True}})


async def test_the_jobs_of_a_busy_second_are_found_on_the_heatmap_and_spread(desk, home, served, words):
    await herd(served, home)
    worst = (await home.ask("GET", "/forecast/worst"))["seconds"][0]
    assert worst["fires"] == 7
    await desk.go("/")
    heatmap = desk.page.locator(".pick-minute")
    await heatmap.focus()
    await desk.page.keyboard.press("ArrowRight")
    await desk.page.keyboard.press("ArrowLeft")
    await expect(heatmap).to_have_attribute("aria-label", words.containing("overview.forecast.pick", fires=7))
    await desk.page.keyboard.press("Enter")
    await expect(desk.page).to_have_url(re.compile("/forecast.*minute="))
    rows = desk.page.get_by_role("group", name=words("forecast.jobs")).locator("tbody tr")
    await expect(rows).to_have_count(7)
    await expect(rows.filter(has_text="settlement")).to_contain_text(words("forecast.exact"))
    await expect(rows.filter(has_text="herd-0")).to_contain_text("growth")

    await desk.page.get_by_role("checkbox", name=words("lists.select.page")).check()
    await desk.press("forecast.spread.verb")
    await expect(desk.dialog).to_contain_text(words("forecast.stay.EXACT"))
    proposal = await home.ask("POST", "/forecast/spread", {"jobs": [*HERD, "settlement"], "hours": 24})
    before, after = proposal["before"]["fires"], proposal["after"]["fires"]
    assert (before, after < before) == (7, True)
    await expect(desk.dialog).to_contain_text(words("forecast.spread.peak", before=before, after=after))
    await desk.dialog.get_by_role("button", name=words("forecast.spread.apply")).click()
    await expect(desk.dialog).to_have_count(0)
    done = words("forecast.spread.done_other", count=len(proposal["moves"]))
    await expect(desk.page.get_by_role("status").filter(has_text=done)).to_be_visible()
    told = await home.ask("GET", "/forecast")
    assert (told["worst"][0]["fires"], told["total"]) == (after, 7 * 24)
    most = words("overview.forecast.summary", total=7 * 24, most=max(told["per_minute"]))
    await expect(desk.page.get_by_text(most)).to_be_visible()
    moved = proposal["moves"][0]
    job = await home.ask("GET", f"/jobs/{moved['job']}")
    assert (job["version"], job["policies"]["spread"]["window"]) == (2, moved["window"])


async def test_a_job_that_changed_while_the_dialog_was_open_stays_and_is_named(desk, home, served, words):
    await herd(served, home)
    await desk.go("/forecast")
    await desk.page.get_by_role("checkbox", name=words("lists.select.page")).check()
    await desk.press("forecast.spread.verb")
    await expect(desk.dialog.locator("tbody tr").first).to_be_visible()
    name = await desk.dialog.locator("tbody tr td").first.inner_text()
    await home.ask("PATCH", f"/jobs/{name}/labels", {"labels": {"team": "ops"}})
    await desk.dialog.get_by_role("button", name=words("forecast.spread.apply")).click()
    await expect(desk.page.locator(".applied li")).to_contain_text(name)
    assert (await home.ask("GET", f"/jobs/{name}"))["policies"]["spread"]["window"] == 0


async def test_the_form_shows_what_a_job_adds_before_it_is_saved(desk, home, served, words):
    await herd(served, home)
    asked: list[str] = []
    desk.page.on("request", lambda one: asked.append(one.url) if one.method == "POST" else None)
    await desk.go("/jobs/new")
    await desk.field("jobs.list.name").fill("eighth")
    asked.clear()
    await desk.field("jobs.form.expression").fill("0 0 * * * ?")
    await desk.later(1)
    effect = desk.page.get_by_role("region", name=words("forecast.whatIf.title"))
    await expect(effect).to_contain_text(words.containing("forecast.whatIf.peak", after=8))
    assert len([url for url in asked if "/forecast" in url]) <= 2
    assert "eighth" not in {job["name"] for job in (await home.ask("GET", "/jobs"))["items"]}


async def test_the_dialog_fits_a_phone(desk, home, served, words):
    await herd(served, home)
    await desk.open("/forecast")
    await desk.page.set_viewport_size(NARROW)
    await desk.page.get_by_role("checkbox", name=words("lists.select.page")).check()
    await desk.press("forecast.spread.verb")
    await expect(desk.dialog.locator("tbody tr").first).to_be_visible()
    assert await desk.page.evaluate(WIDER) <= 0
