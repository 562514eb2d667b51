"""Tasks by business key: a time is set and moved by hand, and the ledger tells how it came to this."""

from datetime import timedelta

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_a_task_is_scheduled_and_moved_and_its_ledger_shows_both(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("ARTICLE_PUBLISH")
    await desk.go("/tasks")
    await desk.page.get_by_role("textbox", name=words("tasks.find.key"), exact=True).fill(
        "article/42"
    )  # a slash is part of the key
    await desk.press("tasks.find.open")
    await expect(desk.page.get_by_text(words("tasks.unknown"))).to_be_visible()

    first, second = scene.now + timedelta(hours=1), scene.now + timedelta(hours=2)
    await desk.press("tasks.time.begin")
    await desk.set_time(words("tasks.time.at"), first)
    await expect(desk.dialog).to_contain_text(words.containing("tasks.effect.creates"))
    await desk.dialog.get_by_role("button", name=words("tasks.time.send")).click()
    await expect(desk.page.locator("[data-decision=created]")).to_be_visible()

    await desk.press("tasks.time.move")
    await desk.set_time(words("tasks.time.at"), second)
    await expect(desk.dialog).to_contain_text(words.containing("tasks.effect.moves"))
    await desk.dialog.get_by_role("button", name=words("tasks.time.send")).click()
    moved = desk.page.locator("[data-decision=moved]")
    await expect(moved).to_contain_text(words("tasks.decision.moved"))
    await expect(desk.page.locator("[data-decision=created] .gone")).to_be_visible()
    await expect(moved.locator(".gone")).to_have_count(0)
    told = await home.ask("GET", "/tasks/ARTICLE_PUBLISH/article/42")
    assert [one["decision"] for one in told["decisions"]] == ["created", "moved"]

    await desk.press("tasks.remove.verb")
    await expect(desk.dialog).to_contain_text(words("tasks.remove.ends"))
    await desk.dialog.get_by_role("button", name=words("tasks.remove.verb")).click()
    await expect(desk.page.locator("[data-decision=cancelled]")).to_be_visible()
    await expect(desk.page.locator("[data-decision=outcome]")).to_contain_text(words("states.CANCELLED"))


async def test_what_came_too_late_is_in_the_ledger_with_its_reason(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("ARTICLE_PUBLISH")
    await scene.put("ARTICLE_PUBLISH", "a", scene.now + timedelta(hours=1), version=5)
    await scene.put("ARTICLE_PUBLISH", "a", scene.now + timedelta(hours=2), version=4)
    await desk.go("/tasks/ARTICLE_PUBLISH/a")
    await expect(desk.page.locator("[data-decision=ignored]")).to_contain_text(words("tasks.reason.stale"))
