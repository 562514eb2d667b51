"""Calendars: walked by keyboard, who uses one, and what a change does before it is saved."""

from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page
from tests.console.scene import Scene

EVERY_DAY = {"first": "2020-01-01", "last": "2060-12-31", "weekdays": [1, 2, 3, 4, 5, 6, 7]}


async def daily_jobs(scene: Scene) -> str:
    """Two jobs that fire each day of a calendar; gives the day of their next fire."""
    await scene.home.ask("PUT", "/calendars/open-days", EVERY_DAY)
    await scene.home.ask("PUT", "/calendars/unused", EVERY_DAY)
    policies = {"calendars": [{"calendar": "open-days"}]}
    for name, owner in (("daily_report", "finance"), ("daily_mail", "growth")):
        await scene.job(name, cron="0 0 9 * * *", timezone="UTC", owner=owner, policies=policies)
    return str((await scene.home.ask("GET", "/jobs/daily_report"))["next_fire_at"])[:10]


async def test_a_change_is_previewed_before_it_is_saved_and_a_day_is_found_by_keyboard(desk, home, served, words):
    day = await daily_jobs(Scene(served, home))
    page = desk.page
    await desk.open("/calendars")
    await page.get_by_role("link", name="open-days").click()
    jobs = page.get_by_role("table", name=words("calendars.jobs.title")).get_by_role("row")
    await expect(jobs.filter(has_text="finance")).to_contain_text("daily_report")
    await expect(jobs.filter(has_text="growth")).to_contain_text(words("calendars.jobs.include"))
    await desk.open(f"/calendars/open-days?month={day[:7]}")
    await page.locator('.day[tabindex="0"]').focus()
    await page.keyboard.press("Shift+PageDown")
    later = f"{int(day[:4]) + 1}-{day[5:7]}"
    await expect(page.get_by_role("table", name=words("calendars.month.title", month=later))).to_be_visible()
    assert f"month={later}" in page.url
    await page.keyboard.press("Shift+PageUp")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".day:focus")).to_have_attribute("data-date", f"{day[:7]}-02")
    await desk.press("calendars.edit")
    save, preview = desk.button("calendars.editor.save"), desk.button("calendars.preview.verb")
    await expect(save).to_be_disabled()
    await expect(preview).to_be_disabled()
    chosen = page.locator(f'[data-date="{day}"]')
    await chosen.focus()
    await chosen.press("Enter")
    await expect(chosen).to_have_accessible_name(words.containing("calendars.day.changed"))
    await preview.click()
    effects = page.get_by_role("table", name=words("calendars.preview.title")).get_by_role("row")
    await expect(effects.filter(has_text="daily_report")).to_contain_text(words("calendars.preview.moves"))
    await expect(effects.filter(has_text="daily_mail")).to_contain_text("−1")
    said = words("calendars.preview.sum", changed=2, jobs=2, removed=2, added=0)
    await expect(page.get_by_text(said)).to_be_visible()
    assert (await home.ask("GET", "/calendars/open-days"))["removed"] == []
    await save.click()
    await expect(desk.dialog).to_contain_text(said)
    await desk.dialog.get_by_role("button", name=words("calendars.editor.save"), exact=True).click()
    await expect(desk.dialog).to_have_count(0)
    await expect(page.locator(f'[data-date="{day}"]')).to_have_accessible_name(
        f"{day}, {words('calendars.day.outside')}, {words('calendars.day.removed')}"
    )
    assert (await home.ask("GET", "/calendars/open-days"))["removed"] == [day]
    [first, *_] = (await home.ask("GET", "/jobs/daily_report/preview"))["fires"]
    assert (first["fire_time"][:10], first["skipped"]) == (day, "CALENDAR")


async def test_a_calendar_is_made_and_one_that_exists_is_not_replaced(desk, home, words):
    await home.ask("PUT", "/calendars/taken", EVERY_DAY)
    for name in ("taken", "fresh"):
        await desk.open("/calendars")
        await desk.press("calendars.new.open")
        await desk.dialog.get_by_label(words("calendars.name")).fill(name)
        await desk.dialog.get_by_role("button", name=words("calendars.new.verb"), exact=True).click()
        if name == "taken":
            await expect(desk.dialog.get_by_role("alert")).to_contain_text("taken")
    await expect(desk.page.get_by_role("heading", level=1)).to_have_text(words("calendars.one", calendar="fresh"))
    assert (await home.ask("GET", "/calendars/taken"))["weekdays"] == EVERY_DAY["weekdays"]
    assert (await home.ask("GET", "/calendars/fresh"))["weekdays"] == [1, 2, 3, 4, 5]


async def test_a_reader_sees_a_calendar_and_cannot_change_it(served, browser, home, words):
    day = await daily_jobs(Scene(served, home))
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(await home.key_of(Role.VIEWER))
        await desk.open(f"/calendars/open-days?month={day[:7]}")
        await expect(desk.button("calendars.edit")).to_have_attribute("aria-disabled", "true")
        await check_page(desk, "calendar")
        await desk.log_out()
        await desk.log_in(home.key)
        await desk.open(f"/calendars/open-days?month={day[:7]}")
        await desk.press("calendars.edit")
        await desk.page.locator(f'[data-date="{day}"]').click()
        await desk.press("calendars.preview.verb")
        await expect(desk.page.get_by_role("status").filter(has_text="2")).to_be_visible()
        await check_page(desk, "the preview of a calendar")
        desk.ears.check()
