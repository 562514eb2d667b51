"""A source is registered; a creation that got lost is seen by a dry run, repaired by a round, and shown as repaired."""

from datetime import timedelta
from threading import Event

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
    answers = served.receiver.gates["/pending"] = Event()
    await desk.go("/sources")
    await expect(desk.page.get_by_text(words("sources.empty.title"))).to_be_visible()
    await register(desk, words, "ARTICLE_PUBLISH", url)
    row = desk.page.get_by_role("row").filter(has_text="ARTICLE_PUBLISH")
    await desk.until_seen(row.get_by_text(words("sources.drift.running")), 5)
    answers.set()  # nothing is said to agree before all was compared: only now
    await desk.until_seen(row.get_by_text(words("sources.drift.none")), 5)

    await scene.lists("/pending", {"article-1": at, "article-2": at})  # and nobody told us of the second
    await row.get_by_role("link", name="ARTICLE_PUBLISH").click()
    await desk.press("sources.action.dry")
    repairs = desk.page.locator("#repairs")
    found = repairs.get_by_role("row").filter(has_text="article-2")  # as soon as it is found; then the page turns to it
    await desk.until_seen(repairs.get_by_text(words("sources.repairs.of", number=2)), 3)
    assert "round=2" in desk.page.url
    await expect(found).to_contain_text(words("sources.would.missing"))
    assert (await home.api.get("/tasks/ARTICLE_PUBLISH/article-2")).status_code == 404

    await desk.press("sources.action.run")
    await expect(desk.dialog).to_contain_text(words("sources.put.repairs"))
    await desk.dialog.get_by_role("button", name=words("sources.action.run")).click()
    await desk.until_seen(desk.page.get_by_text(words("sources.drift.summary", count=1, repaired=1)), 5)
    await desk.page.locator("#rounds").get_by_role("link", name=words("sources.round.name", number=3)).click()
    await expect(found).to_contain_text(words("sources.did.created"))
    await found.get_by_role("link", name="article-2").click()
    await expect(desk.page.locator("[data-decision=created]")).to_contain_text("source")


@pytest.mark.parametrize("language", ["en"])
async def test_a_source_that_does_not_answer_says_why_and_is_removed(desk, home, served, words):
    scene = Scene(served, home)
    await scene.type("ARTICLE_PUBLISH")
    served.receiver.bodies["/broken"] = b'{"items": "no list"}'
    answers = served.receiver.gates["/broken"] = Event()
    origin = {"kind": "http", "url": f"{served.receiver.url}/broken"}
    await home.ask("PUT", "/sources/ARTICLE_PUBLISH", {"origin": origin})
    await desk.go("/sources/ARTICLE_PUBLISH")
    rounds = desk.page.locator("#rounds")
    await desk.until_seen(rounds.get_by_text(words("states.RUNNING")), 5)
    answers.set()  # what the list of rounds has shown already is shown again, with the error
    await desk.until_seen(rounds.locator(".tone-bad").filter(has_text="cannot be read"), 5)
    await desk.press("sources.action.edit")
    await desk.dialog.get_by_label(words("sources.url"), exact=True).fill("nowhere")
    await desk.dialog.get_by_role("button", name=words("sources.put.verb")).click()
    await expect(desk.dialog.get_by_role("alert")).to_contain_text("SCH_422_INVALID")
    await desk.page.keyboard.press("Escape")
    await desk.press("frame.pauseButton.pause")
    await expect(desk.dialog).to_contain_text(words("sources.pause.second"))
    await desk.dialog.get_by_role("button", name=words("frame.pauseButton.pause")).click()
    await expect(desk.page.get_by_text(words("states.PAUSED"), exact=True)).to_be_visible()
    await expect(desk.page.get_by_role("button", name=words("sources.action.run"))).to_have_count(0)
    await desk.press("frame.pauseButton.resume")
    await desk.dialog.get_by_role("button", name=words("frame.pauseButton.resume")).click()
    await expect(desk.page.get_by_role("button", name=words("sources.action.run"))).to_be_visible()
    await desk.press("sources.action.remove")
    await expect(desk.dialog).to_contain_text(words("sources.remove.stay"))
    await desk.dialog.get_by_role("button", name=words("sources.action.remove")).click()
    await expect(desk.page.get_by_text(words("sources.empty.title"))).to_be_visible()
