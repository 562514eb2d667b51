"""What all lists share: chosen columns, the zone of a job, and an undo that outlives its page."""

import re

from playwright.async_api import expect

from tests.console.scene import Scene

JOB_ZONE = "America/New_York"
"""Neither the zone of the browser, nor of the tenant."""


async def test_open_dead_letters_are_one_filter_and_a_column_that_is_hidden_stays_hidden(desk, home, served, words):
    scene = Scene(served, home)
    first, second = await scene.dead_letters("settlement", 2)
    await home.ask("POST", f"/dead-letters/{first}/discard")
    await desk.go("/dead-letters?status=OPEN")
    rows = desk.page.locator(".rows tbody tr")
    await expect(rows).to_have_count(1)
    await expect(rows.get_by_role("link").first).to_have_attribute("href", re.compile(second))
    column = desk.page.get_by_role("columnheader", name=words("deadLetters.tag"), exact=True)
    await expect(column).to_be_visible()
    await desk.press("lists.columns.verb")
    await desk.page.get_by_role("menuitem", name=words("deadLetters.tag"), exact=True).click()
    await expect(column).to_have_count(0)
    await desk.go("/dead-letters")
    await expect(rows).to_have_count(2)
    await expect(column).to_have_count(0)


async def test_the_page_of_an_instance_shows_the_zone_of_its_job_when_that_is_chosen(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("far_away", cron="0 0 2 * * *", timezone=JOB_ZONE)
    instance = await scene.trigger("far_away")
    await scene.ended(instance)
    await desk.go(f"/instances/{instance}")
    mark = desk.page.locator("main .zone-mark").first
    await expect(mark).to_have_text(re.compile(r"\+0?8"))
    await desk.page.evaluate("localStorage.setItem('horae.zone', 'job')")
    await desk.go(f"/instances/{instance}")
    await expect(mark).to_have_text(re.compile("[-\N{MINUS SIGN}]0?[45]"))


async def test_a_bulk_pause_can_be_undone_after_its_page_was_left(desk, home, served, words):
    scene = Scene(served, home)
    await scene.queue("nightly")
    await desk.open("/jobs")
    await desk.page.get_by_role("checkbox", name=words("lists.select.one", name="nightly"), exact=True).check()
    await desk.press("lists.bulk.pause")
    await desk.dialog.get_by_role("button", name=words("lists.bulk.pause"), exact=True).click()
    await expect(desk.button("lists.bulk.undo")).to_be_visible()
    await desk.go("/instances")
    await desk.go("/jobs")
    await desk.press("lists.bulk.undo")
    await desk.dialog.get_by_role("button", name=words("lists.bulk.resume"), exact=True).click()
    await expect(desk.page.get_by_text(words("lists.bulk.undone", count="1"))).to_be_visible()
    assert (await home.ask("GET", "/jobs/nightly"))["status"] == "ACTIVE"


async def test_jobs_are_sorted_by_their_next_fire_and_by_their_last_change(desk, home, served, words):
    scene = Scene(served, home)
    for name, hour in (("a-last", 23), ("b-first", 1), ("c-middle", 12)):
        await scene.job(name, cron=f"0 0 {hour} 1 1 *", timezone="UTC")
    await home.ask("PATCH", "/jobs/b-first/labels", {"labels": {"team": "night"}})
    names = desk.page.locator(".rows tbody td:nth-child(2) a")
    await desk.open("/jobs")
    await expect(names).to_have_text(["a-last", "b-first", "c-middle"])
    header = desk.page.get_by_role("columnheader", name=words("jobs.list.next"))
    await header.get_by_role("button").focus()
    await desk.page.keyboard.press("Enter")
    await expect(names).to_have_text(["b-first", "c-middle", "a-last"])
    await expect(header).to_have_attribute("aria-sort", "ascending")
    await expect(desk.page).to_have_url(re.compile("order=next_fire_at"))
    await desk.page.keyboard.press("Enter")
    await expect(names).to_have_text(["a-last", "b-first", "c-middle"])

    await desk.page.get_by_role("combobox", name=words("jobs.order.title"), exact=True).click()
    await desk.page.get_by_title(words("jobs.order.changed_at"), exact=True).click()
    await expect(names).to_have_text(["b-first", "c-middle", "a-last"])
