"""A rolling set: subjects come in by stream and by hand, are refreshed, and the share of the fresh is told."""

from datetime import timedelta

import pytest
from playwright.async_api import expect

from tests.console.scene import Scene


@pytest.mark.parametrize("language", ["en"])
async def test_subjects_are_imported_added_at_once_refreshed_counted_and_taken_out(desk, home, served, words):
    scene = Scene(served, home)
    later = (scene.now + timedelta(hours=6)).isoformat()
    await scene.job("STOCK", trigger={"kind": "rolling", "window": 864000, "every": 86400, "anchor": later})
    await desk.go("/rolling")
    await desk.page.get_by_role("row").filter(has_text="STOCK").get_by_role("link", name="STOCK").click()
    await expect(desk.page.locator("#subjects").get_by_text(words("rolling.subjects.none"))).to_be_visible()

    lines = "".join(f'"product-{number:02}"\n' for number in range(60)).encode()
    stream = {"Content-Type": "application/x-ndjson"}
    taken = await home.api.post("/jobs/STOCK/subjects/import", content=lines, headers=stream)
    assert taken.json() == {"named": 60, "changed": 60}
    rows = desk.page.locator("#subjects").get_by_role("row")
    await desk.until_seen(rows.filter(has_text="product-49"), 5)

    await desk.press("rolling.add.open")
    await desk.dialog.get_by_label(words("rolling.add.keys")).fill("novelty-1\n\nnovelty-2\nproduct-01")
    await expect(desk.dialog).to_contain_text(words("rolling.add.named", count=3))
    await desk.dialog.get_by_label(words("rolling.add.atOnce")).check()
    await desk.dialog.get_by_role("button", name=words("rolling.add.verb"), exact=True).click()
    await expect(desk.page.get_by_text(words("rolling.add.done", named=3, changed=2))).to_be_visible()

    await desk.page.get_by_role("textbox", name=words("rolling.subjects.prefix")).fill("nov")
    await desk.page.keyboard.press("Enter")
    await expect(rows.filter(has_text="product")).to_have_count(0)
    done = lambda page: all(one["last_success_at"] for one in page["items"])  # noqa: E731
    await scene.when("/jobs/STOCK/subjects?prefix=nov", done)
    await served.pass_time(minutes=3)  # what a node counted before is too old, so it is counted now
    await desk.until_seen(
        desk.page.get_by_text(words("rolling.coverage.summary", fresh=2, subjects=62, length="12 d"), exact=False), 15
    )
    await expect(desk.page.locator("#coverage")).to_contain_text("3.225 %")
    await expect(desk.page.locator(".age").filter(has_text=words("rolling.ages.never"))).to_contain_text("60")

    await rows.get_by_role("button", name=words("rolling.remove.of", key="novelty-2")).click()
    await expect(desk.dialog).to_contain_text(words("rolling.remove.never"))
    await desk.dialog.get_by_role("button", name=words("rolling.remove.verb"), exact=True).click()
    await expect(rows.filter(has_text="novelty-2")).to_have_count(0)
    await rows.filter(has_text="novelty-1").get_by_role("link", name="novelty-1").click()
    await expect(desk.page.get_by_role("row").filter(has_text="novelty-1")).to_contain_text(words("states.SUCCESS"))


async def test_subjects_are_found_by_status_and_by_batch(desk, home, served, words):
    scene = Scene(served, home)
    later = (scene.now + timedelta(hours=6)).isoformat()
    trigger = {"kind": "rolling", "window": 864000, "every": 86400, "anchor": later}
    job = await scene.job("STOCK", trigger=trigger)
    await scene.fails(job, 400)
    await home.ask("PUT", "/jobs/STOCK/subjects", {"keys": ["product-1"], "at_once": True})
    await scene.when("/jobs/STOCK/subjects", lambda page: [one["status"] for one in page["items"]] == [3])
    await home.ask("PUT", "/jobs/STOCK/subjects", {"keys": ["product-2"], "at_once": True})
    page = await scene.when("/jobs/STOCK/subjects", lambda page: [one["status"] for one in page["items"]] == [3, 2])
    await desk.go("/jobs/STOCK?view=subjects")
    await desk.page.get_by_role("link", name=words("rolling.status.failedOnes")).click()
    rows = desk.page.locator("#subjects tbody tr")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("product-1")
    await expect(rows).to_contain_text(words("rolling.status.failed"))
    await desk.page.get_by_role("combobox", name=words("rolling.status.label")).click()
    await desk.page.locator(".ant-select-item-option").filter(has_text=words("rolling.status.succeeded")).click()
    await expect(rows).to_contain_text("product-2")
    await rows.get_by_role("button", name=page["items"][1]["batch_no"][-8:]).click()
    await expect(rows).to_have_count(1)
    assert "batch=" in desk.page.url
