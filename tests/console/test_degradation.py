"""Seed 002's second panel, and its example 10: the API is gone, the console goes on to show what it knew."""

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_seed_002_example_10_the_api_shakes_the_panel_is_read_only_and_comes_back(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("coupon_job", cron="0 */5 * * * ?")
    await desk.go("/jobs/coupon_job")
    pause, banner = desk.button("jobs.action.pause"), desk.page.locator(".banner")
    line = desk.page.get_by_role("status", name=words("health.label"))
    await expect(pause).not_to_have_attribute("aria-disabled", "true")
    served.door.kill()  # by its pid
    await served.door.ended()
    for failures in (1, 2):
        await desk.later(2 * failures)
        await expect(line).to_contain_text(words.containing("health.failed", failures=failures))
        await expect(banner).to_have_count(0)
    await desk.later(6)
    await expect(banner).to_contain_text(words("health.readOnly"))
    await expect(pause).to_have_attribute("aria-disabled", "true")
    await expect(desk.page.get_by_role("heading", name="coupon_job")).to_be_visible()  # what was known is still shown

    await served.open_door()
    await desk.later(8)
    await expect(banner).to_have_count(0)
    await expect(line).to_contain_text(words.any("health.healthy", "health.degraded", "health.attemptsFail"))
    await expect(pause).not_to_have_attribute("aria-disabled", "true")
    desk.ears.errors.clear()  # that nobody answered was said in the browser's log
