"""Seed 002's first panel: a job is created from the form, and its fire is watched; then its past is run again."""

from datetime import timedelta

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_coupon_job_is_created_from_the_form_and_fires_while_one_looks(desk, home, served, words):
    scene = Scene(served, home)
    await desk.go("/jobs/new")
    await desk.field("jobs.list.name").fill("coupon_job")
    await desk.field("jobs.form.expression").fill("0 */5 * * * ?")
    await desk.field("jobs.form.url").fill(f"{served.receiver.url}/coupons")
    await expect(desk.page.get_by_text("spring6").first).to_be_visible()
    await desk.press("jobs.create.idle")
    await expect(desk.page.get_by_role("heading", name="coupon_job")).to_be_visible()
    made = await home.ask("GET", "/jobs/coupon_job")
    assert (made["trigger"]["expression"], made["trigger"]["dialect"]) == ("0 */5 * * * ?", "spring6")
    await expect(desk.page.get_by_text(words("jobs.recentRuns.none"))).to_be_visible()

    await served.pass_time(minutes=5)
    [ran] = (await scene.when("/jobs/coupon_job/instances", lambda page: ended(page["items"])))["items"]
    bar = desk.page.locator(".strip a")
    await desk.until_seen(bar, every=10)
    await expect(bar).to_have_attribute("title", words.containing("states.SUCCESS"))
    await bar.click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.SUCCESS"))
    assert ran["id"] in desk.page.url
    assert ran["idempotency_key"] in served.receiver.effects


def ended(items) -> bool:
    return bool(items) and all(one["state"] == "SUCCESS" for one in items)


async def test_a_backfill_is_asked_for_and_its_progress_is_watched_to_the_end(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("minutely", cron="0 * * * * ?")
    await desk.go("/jobs/minutely")
    await desk.press("jobs.action.backfill")
    end = scene.now.replace(second=30, microsecond=0) - timedelta(minutes=2)
    await desk.set_time(words("jobs.backfill.since", zone="Asia/Shanghai"), end - timedelta(minutes=10))
    await desk.set_time(words("jobs.backfill.until", zone="Asia/Shanghai"), end)
    await expect(desk.dialog).to_contain_text(words("jobs.backfill.onceEffect"))
    await desk.dialog.get_by_role("button", name=words("jobs.action.backfill")).click()
    row = desk.page.locator(".rows tbody tr")
    await expect(row).to_have_count(1)
    await expect(row.get_by_role("progressbar")).to_be_visible()
    await desk.until_seen(row.get_by_text(f"{words('states.SUCCESS')} 10"), every=5)
    await expect(row).to_contain_text(words("states.DONE"))
    [one] = (await home.ask("GET", "/jobs/minutely/backfills"))["items"]
    assert (one["planned"], one["born"]) == (10, 10)
