"""Instances: one list over what lives and what ended, and the page of one with its attempts."""

from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.scene import Scene


async def test_live_and_ended_are_in_one_list_that_is_searched_by_state_job_and_key(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("done_job")
    await scene.ended(await scene.trigger("done_job"))
    await scene.queue("waiting_job")
    await scene.trigger("waiting_job")
    await scene.type("publish")
    await scene.put("publish", "article-9")
    await scene.when("/tasks/publish/article-9", lambda one: one["outcome"] == "SUCCESS")
    await desk.go("/instances")
    rows = desk.page.locator(".rows tbody tr")
    await expect(rows).to_have_count(3)
    await desk.page.get_by_label(words("instances.filters.key")).fill("article-9")
    await desk.page.keyboard.press("Enter")
    await expect(rows).to_have_count(1)
    assert "key=article-9" in desk.page.url
    await desk.go("/instances?job=waiting_job")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text(words("states.INIT"))
    await desk.go('/instances?state=["SUCCESS"]')
    await expect(rows).to_have_count(2)


async def test_every_attempt_is_shown_with_status_answer_and_duration_and_it_is_tried_again_by_hand(
    desk, home, served, words
):
    scene = Scene(served, home)
    [dead] = await scene.dead_letters("settlement", 1, 503)
    await desk.go(f"/instances/{dead}")
    tries = desk.page.locator(".attempts > li").filter(has_text="HTTP 503")
    await expect(tries).to_have_count(2)
    await expect(tries.first).to_contain_text("HTTP_5XX")
    await expect(tries.first).to_contain_text(" ms")
    await expect(tries.first.locator("pre")).to_have_text("no")
    await expect(desk.page.get_by_text('"order": 0')).to_be_visible()
    await desk.press("instances.retry.verb")
    await expect(desk.dialog).to_contain_text(words("instances.retry.dead"))
    await desk.dialog.get_by_role("button", name=words("instances.retry.verb")).click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.SUCCESS"))
    assert dead not in desk.page.url


async def test_what_waits_is_cancelled_by_one_who_may_and_not_by_one_who_only_reads(desk, home, served, words, browser):
    scene = Scene(served, home)
    await scene.queue("waiting_job")
    waiting = await scene.trigger("waiting_job")
    async with profile(browser, words.language) as context:
        reader = Desk(await context.new_page(), served, words)
        await reader.log_in(await home.key_of(Role.VIEWER))
        await reader.go(f"/instances/{waiting}")
        button = reader.button("instances.cancel.verb")
        await expect(button).to_have_attribute("aria-disabled", "true")
        await button.focus()
        await expect(reader.page.get_by_role("tooltip")).to_contain_text("instances.cancel")
    await desk.go(f"/instances/{waiting}")
    await desk.press("instances.cancel.verb")
    await expect(desk.dialog).to_contain_text(words("instances.cancel.ends"))
    await desk.dialog.get_by_role("button", name=words("instances.cancel.verb")).click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.CANCELLED"))


async def test_what_waits_says_for_what_on_its_page_and_on_its_jobs(desk, home, served, words):
    """The target refuses: its breaker opens, and of many runs only the probes are sent."""
    scene = Scene(served, home)
    job = await scene.job("refused_job", retry={"base": 300.0})
    await scene.fails(job, *[503] * 200)
    last = [await scene.trigger("refused_job") for _ in range(20)][-1]
    await scene.when("/jobs/refused_job", lambda job: any(hold["reason"] == "breaker" for hold in job["held"]))
    hold = desk.page.locator('.hold[data-reason="breaker"]')
    await desk.go(f"/instances/{last}")
    await expect(hold).to_contain_text(job["target"]["url"])
    await expect(desk.page.locator(".attempts")).to_contain_text(words("instances.next.overdue"))
    await desk.go("/jobs/refused_job")
    await expect(hold.first).to_contain_text(job["target"]["url"])
    await scene.fails(job)
