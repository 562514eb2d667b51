"""A source is registered; a creation that got lost is seen by a dry run, repaired by a round, and shown as repaired."""

from datetime import timedelta

import pytest
from playwright.async_api import expect

from tests.console.scene import Scene


async def register(desk, words, type_: str, url: str) -> None:
    """Fill in the form, as a person does."""
    await desk.press("sources.put.open")
    await desk.dialog.get_by_label(words("sources.columns.type"), exact=True).fill(type_)
    await desk.dialog.get_by_label(words("sources.url"), exact=True).fill(url)
    await desk.dialog.get_by_label(words("sources.everyLabel")).fill("3600")
    await desk.dialog.get_by_label(words("sources.grace")).fill("0")
    await expect(desk.dialog).to_contain_text(words("sources.put.keeps"))
    await desk.dialog.get_by_role("button", name=words("sources.put.verb")).click()


@pytest.mark.parametrize("language", ["zh-CN"])
async def test_a_dropped_creation_is_seen_by_a_dry_run_and_repaired_by_a_round(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("ARTICLE_PUBLISH")
    at = scene.now.replace(microsecond=0) + timedelta(hours=3)
    await scene.put("ARTICLE_PUBLISH", "article-1", at)
    url = await scene.lists("/pending", {"article-1": at})
    await desk.go("/sources")
    await expect(desk.page.get_by_text(words("sources.empty.title"))).to_be_visible()
    await register(desk, words, "ARTICLE_PUBLISH", url)
    row = desk.page.get_by_role("row").filter(has_text="ARTICLE_PUBLISH")
    await desk.until_seen(row.get_by_text(words("sources.drift.none")), 5)

    await scene.lists("/pending", {"article-1": at, "article-2": at})  # and nobody told us of the second
    await row.get_by_role("link", name="ARTICLE_PUBLISH").click()
    await desk.press("sources.act.dry")
    found = desk.page.locator("#repairs").get_by_role("row").filter(has_text="article-2")
    await desk.until_seen(found.get_by_text(words("sources.would.missing")), 3)
    assert "round=2" in desk.page.url
    assert (await home.api.get("/tasks/ARTICLE_PUBLISH/article-2")).status_code == 404

    await desk.press("sources.act.run")
    await expect(desk.dialog).to_contain_text(words("sources.put.repairs"))
    await desk.dialog.get_by_role("button", name=words("sources.act.run")).click()
    await desk.until_seen(desk.page.get_by_text(words("sources.drift.said", count=1, repaired=1)), 5)
    await desk.page.locator("#rounds").get_by_role("link", name=words("sources.round.name", number=3)).click()
    await expect(found).to_contain_text(words("sources.did.created"))
    await found.get_by_role("link", name="article-2").click()
    await expect(desk.page.locator("[data-decision=created]")).to_contain_text("source")


@pytest.mark.parametrize("language", ["en"])
async def test_a_source_that_does_not_answer_says_why_and_is_removed(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("ARTICLE_PUBLISH")
    served.receiver.bodies["/pending"] = b'{"items": "no list"}'
    origin = {"kind": "http", "url": f"{served.receiver.url}/pending"}
    await home.ask("PUT", "/sources/ARTICLE_PUBLISH", {"origin": origin})
    await desk.go("/sources/ARTICLE_PUBLISH")
    await desk.until_seen(desk.page.locator("#rounds .tone-bad"), 5)
    await desk.press("sources.act.edit")
    await desk.dialog.get_by_label(words("sources.url"), exact=True).fill("nowhere")
    await desk.dialog.get_by_role("button", name=words("sources.put.verb")).click()
    await expect(desk.dialog.get_by_role("alert")).to_contain_text("SCH_422_INVALID")
    await desk.page.keyboard.press("Escape")
    await desk.press("sources.act.remove")
    await expect(desk.dialog).to_contain_text(words("sources.remove.stay"))
    await desk.dialog.get_by_role("button", name=words("sources.act.remove")).click()
    await expect(desk.page.get_by_text(words("sources.empty.title"))).to_be_visible()
