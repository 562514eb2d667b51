"""Backfills: a dry run says what they would do, they are paused and resumed, and many jobs are backfilled at once."""

from datetime import timedelta

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_a_backfill_is_planned_paused_and_resumed(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("minutely", cron="0 * * * * ?")
    await desk.go("/jobs/minutely")
    await desk.press("jobs.action.backfill")
    end = scene.now.replace(second=30, microsecond=0) - timedelta(minutes=2)
    await desk.set_time(words("jobs.backfill.since", zone="Asia/Shanghai"), end - timedelta(minutes=40))
    await desk.set_time(words("jobs.backfill.until", zone="Asia/Shanghai"), end)
    await desk.dialog.get_by_label(words("backfills.rate.label")).fill("2")
    plan = desk.page.get_by_role("region", name=words("backfills.plan.title"))
    await expect(plan).to_contain_text(words("backfills.plan.needed", needed=40, planned=40))
    await expect(plan).to_contain_text(words("backfills.plan.duration", length="20 s"))
    await desk.dialog.get_by_role("button", name=words("jobs.action.backfill")).click()

    row = desk.page.locator(".rows tbody tr")
    await row.get_by_role("button", name=words("backfills.pause.verb"), exact=True).click()
    await expect(desk.dialog).to_contain_text(words("backfills.pause.effect"))
    await desk.dialog.get_by_role("button", name=words("backfills.pause.verb"), exact=True).click()
    await expect(row).to_contain_text(words("states.PAUSED"))
    await expect(row).to_contain_text(words("backfills.rate.of", rate=2))
    [one] = (await home.ask("GET", "/jobs/minutely/backfills"))["items"]
    assert one["status"] == "PAUSED"
    assert one["born"] < 40

    await row.get_by_role("button", name=words("backfills.resume.verb"), exact=True).click()
    await desk.dialog.get_by_role("button", name=words("backfills.resume.verb"), exact=True).click()
    await expect(row).to_contain_text(words("states.RUNNING"))
    await scene.when(f"/backfills/{one['id']}", lambda one: one["status"] == "DONE" and not one["waiting"], 60)
    await desk.until_seen(row.get_by_text(words("backfills.progress.ended", done=40, total=40)), every=5)


async def test_jobs_are_backfilled_by_label_and_followed_as_one_group(desk, home, served, words):
    scene = Scene(served, home)
    for name in ("coupons", "prices"):
        await scene.job(name, cron="0 * * * * ?", labels={"team": "growth"})
    await scene.job("other", cron="0 * * * * ?")
    await desk.go("/jobs/coupons?view=backfills")
    await desk.page.get_by_role("link", name=words("backfills.group.link")).click()
    await desk.page.get_by_label(words("backfills.group.labels")).fill("team=growth")
    end = scene.now.replace(second=30, microsecond=0) - timedelta(minutes=2)
    for label, at in (("since", end - timedelta(minutes=5)), ("until", end)):
        field = desk.page.get_by_label(words(f"jobs.backfill.{label}", zone="Asia/Shanghai"))
        await field.fill(desk.local(at))
    await desk.press("backfills.group.start")
    await expect(desk.dialog).to_contain_text("team=growth")
    await desk.dialog.get_by_role("button", name=words("backfills.group.start"), exact=True).click()
    await expect(desk.page.get_by_text(words("backfills.group.summary", begun=2, jobs=2))).to_be_visible()
    await desk.page.get_by_role("link", name=words("backfills.group.follow")).click()
    await expect(desk.page.locator("tbody tr")).to_have_count(2)
    ended = words("backfills.progress.ended", done=10, total=10)
    await desk.until_seen(desk.page.locator(".card").get_by_text(ended), every=5)
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.DONE"))
