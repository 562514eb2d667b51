"""The button "Why?": what a page shows is explained in the reader's language, with links to the rows that decided."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from tests.console.browser import LANGUAGES
from tests.console.scene import Scene


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_dead_instance_its_job_and_a_fire_at_a_time_are_explained(desk, home, served, words):
    scene = Scene(served, home)
    [dead] = await scene.dead_letters("settlement", 1, 503)
    await desk.go(f"/instances/{dead}")
    await desk.press("frame.why.verb")
    letter = desk.dialog.locator('[data-code="DEAD_LETTER"]')
    said = {"en": "the target answered with an error of its own", "zh-CN": "目标应答自身出错"}
    await expect(letter).to_contain_text(said[words.language])
    row = words("frame.why.row.dead_letter", ref=dead)
    await letter.get_by_role("link", name=row).click()
    await expect(desk.page).to_have_url(served.url + "/console/dead-letters")
    await desk.go("/jobs/settlement")
    await desk.press("frame.why.verb")
    await expect(desk.dialog.locator('[data-code="DEAD_LETTER"]')).to_be_visible()


async def test_a_fire_of_a_job_is_asked_for_by_its_time(desk, home, served, words):
    await Scene(served, home).job("nightly", cron="0 0 2 * * ?")
    await desk.go("/jobs/nightly")
    await desk.press("frame.why.verb")
    await expect(desk.dialog.locator('[data-code="NEXT_FIRE"]')).to_be_visible()
    await desk.dialog.get_by_label(words("frame.why.at")).fill("2020-01-01T02:00")
    await desk.page.keyboard.press("Enter")
    said = {"en": "it has no fires before that", "zh-CN": "在那之前没有触发"}
    await expect(desk.dialog.locator('[data-code="BEFORE_CREATION"]')).to_contain_text(said[words.language])
    await desk.dialog.get_by_label(words("frame.why.at")).fill("noon")
    await desk.page.keyboard.press("Enter")
    await expect(desk.dialog).to_contain_text("'noon'")


async def test_a_task_is_explained_by_the_decision_about_it(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("publish")
    await scene.put("publish", "article/9", at=datetime(2035, 1, 1, tzinfo=UTC))
    await desk.go("/tasks/publish/article%2F9")
    await desk.press("frame.why.verb")
    decided = desk.dialog.locator('[data-code="DECIDED"]')
    said = {"en": "the last request about it was created", "zh-CN": "关于它的最近一次请求的结果是新建"}
    await expect(decided).to_contain_text(said[words.language])
    row = words("frame.why.row.task", ref="publish/article/9")
    await expect(decided.get_by_role("link", name=row)).to_be_visible()
