"""Events out and in: a webhook is subscribed, told and told again; what was parked is looked at, done, or dropped."""

import asyncio
import time
from datetime import timedelta

import msgspec
import pytest
from playwright.async_api import expect

from horae.domain.errors import BadRequest, NotFound
from tests.console.scene import SIGNING, Scene
from tests.receiver import receiving


def told(hook) -> list[str]:
    """The ids of the events that a hook was told, in their order."""
    return [event["id"] for batch in hook.calls for event in batch]


async def until(so) -> None:
    """Wait for what happens outside of the browser."""
    deadline = time.monotonic() + 60
    while not so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("language", ["zh-CN"])
async def test_a_webhook_is_subscribed_told_and_told_again(desk, home, served, words):
    scene = Scene(served, home)
    await home.ask("PUT", "/secrets/crm-events", {"value": SIGNING})
    with receiving() as hook:
        await desk.go("/events")
        await desk.press("events.out.open")
        await desk.dialog.get_by_label(words("events.form.name"), exact=True).fill("crm")
        await desk.dialog.get_by_label(words("events.form.url"), exact=True).fill(f"{hook.url}/events")
        await desk.dialog.get_by_label(words("events.form.signing"), exact=True).fill("crm-events")
        await desk.dialog.get_by_label(words("events.form.events")).fill("INSTANCE_*")
        await expect(desk.dialog).to_contain_text(words("events.out.now"))
        await desk.dialog.get_by_role("button", name=words("events.out.verb")).click()
        row = desk.page.locator("#subscriptions").get_by_role("row").filter(has_text="crm")
        await expect(row).to_contain_text("INSTANCE_*")

        await scene.job("coupon_job")
        await scene.ended(await scene.trigger("coupon_job"))
        await until(lambda: told(hook))
        sent = row.locator("td").nth(3)
        await desk.until_seen(sent.filter(has_not_text="0"), 10)
        first = told(hook)[0]

        await row.get_by_role("button", name=words("events.replay.verb")).click()
        await expect(desk.dialog).to_contain_text(words("events.replay.same"))
        await desk.dialog.get_by_role("button", name=words("events.replay.verb"), exact=True).click()
        await expect(desk.page.get_by_text(words("events.replay.done", name="crm"))).to_be_visible()
        await until(lambda: told(hook).count(first) > 1)

        await row.get_by_role("button", name=words("frame.pauseButton.pause")).click()
        await expect(desk.dialog).to_contain_text(words("events.out.pause.second"))
        await desk.dialog.get_by_role("button", name=words("frame.pauseButton.pause")).click()
        await expect(row).to_contain_text(words("states.PAUSED"))
        await row.get_by_role("button", name=words("frame.pauseButton.resume")).click()
        await desk.dialog.get_by_role("button", name=words("frame.pauseButton.resume")).click()
        await expect(row).not_to_contain_text(words("states.PAUSED"))

        await row.get_by_role("button", name=words("events.remove"), exact=True).click()
        await desk.dialog.get_by_role("button", name=words("events.remove"), exact=True).click()
        await expect(desk.page.get_by_text(words("events.out.none"))).to_be_visible()


@pytest.mark.parametrize("language", ["en"])
async def test_what_was_parked_is_looked_at_done_when_it_can_be_and_dropped(desk, home, served, words):
    scene = Scene(served, home)
    topic = {"kind": "topic", "broker": "main", "topic": f"{home.tenant.name}.changes"}
    await home.ask("PUT", "/intakes/changes", {"source": topic})
    at = (scene.now + timedelta(hours=2)).isoformat()
    late = {"op": "schedule", "type": "COUPON_SEND", "key": "coupon-11", "version": 7, "at": at}
    await scene.parks("changes", msgspec.json.encode(late), NotFound("no type yet"))
    await scene.parks("changes", b"<order/>", BadRequest("no schedule change"))
    await desk.go("/events")
    await expect(desk.page.locator("#intakes").get_by_role("row").filter(has_text="changes")).to_be_visible()
    rows = desk.page.locator("#parked").get_by_role("row")
    mended, poison = rows.filter(has_text="no type yet"), rows.filter(has_text="no schedule change")

    await poison.get_by_role("button", name=words("events.parked.look")).click()
    await expect(desk.dialog.locator("pre")).to_have_text("<order/>")
    await desk.page.keyboard.press("Escape")
    await poison.get_by_role("button", name=words("events.parked.replay")).click()
    await desk.dialog.get_by_role("button", name=words("events.parked.replay")).click()
    await expect(desk.dialog.get_by_role("alert")).to_contain_text("no schedule change")
    await desk.page.keyboard.press("Escape")
    await poison.get_by_role("button", name=words("events.parked.drop")).click()
    await expect(desk.dialog).to_contain_text(words("events.parked.gone"))
    await desk.dialog.get_by_role("button", name=words("events.parked.drop")).click()
    await expect(poison).to_have_count(0)

    await scene.type("COUPON_SEND")
    await mended.get_by_role("button", name=words("events.parked.replay")).click()
    await desk.dialog.get_by_role("button", name=words("events.parked.replay")).click()
    await expect(desk.page.get_by_text(words("events.parked.none"))).to_be_visible()
    assert (await home.ask("GET", "/tasks/COUPON_SEND/coupon-11"))["live"]["state"] == "INIT"
