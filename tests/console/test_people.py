"""The people of a job in its form, on its page and in the list; and who reads what came back from a target."""

import pytest
from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.scene import QUICK, Scene


@pytest.mark.parametrize("language", ["zh-CN"])
async def test_a_job_gets_an_owner_in_its_form_and_is_found_by_it(desk, home, served, words):
    scene = Scene(served, home)
    await scene.job("close_orders", cron="0 */5 * * * ?")
    await scene.job("send_bills", cron="0 */5 * * * ?", owner="billing")
    await desk.go("/jobs/close_orders/edit")
    for field, text in {
        "description": "Closes orders that nobody paid.",
        "owner": "orders-team",
        "runbook": "https://wiki.example.com/orders",
        "contacts": "orders-oncall\nlead",
    }.items():
        await desk.field(f"jobs.people.{field}").fill(text)
    for field, number in {"late": "60", "failing": "3"}.items():
        await desk.page.get_by_label(words(f"jobs.people.{field}")).fill(number)
    await desk.press("jobs.change.idle")
    await expect(desk.page.get_by_text(words("jobs.version.diff", before=1, after=2)).first).to_be_visible()
    after = await home.ask("GET", "/jobs/close_orders")
    assert (after["owner"], after["contacts"]) == ("orders-team", ["orders-oncall", "lead"])
    assert (after["late_after"], after["fail_after"]) == (60, 3)

    await desk.go("/jobs/close_orders")
    await expect(desk.page.get_by_role("link", name="https://wiki.example.com/orders")).to_be_visible()
    await expect(desk.page.get_by_text(words("jobs.people.failingText", count=3))).to_be_visible()
    await desk.page.get_by_role("link", name="orders-team").click()
    await expect(desk.page.get_by_role("link", name="close_orders")).to_be_visible()
    await expect(desk.page.get_by_role("link", name="send_bills")).to_have_count(0)


@pytest.mark.parametrize("language", ["en"])
async def test_an_attempt_says_by_whom_and_its_answer_is_hidden_from_a_viewer(desk, home, served, words, browser):
    scene = Scene(served, home)
    job = await scene.job("settlement", retry=QUICK)
    await scene.fails(job, 503, 503)
    dead = await scene.trigger("settlement")
    ended = await scene.ended(dead)
    node, request = ended["attempts"][0]["node"], ended["attempts"][0]["request"]
    await desk.go(f"/instances/{dead}")
    tries = desk.page.locator(".attempts > li").filter(has_text="HTTP 503")
    await expect(tries.first).to_contain_text(words("instances.byNode", node=node))
    await expect(tries.first).to_contain_text(request)
    await expect(tries.first.locator("pre")).to_have_text("no")
    async with profile(browser, words.language) as context:
        reader = Desk(await context.new_page(), served, words)
        await reader.log_in(await home.key_of(Role.VIEWER))
        await reader.go(f"/instances/{dead}")
        seen = reader.page.locator(".attempts > li").filter(has_text="HTTP 503")
        await expect(seen.first).to_contain_text(request)
        await expect(seen.first.locator("pre")).to_have_count(0)
