"""Dead letters are listed and replayed, one by one and by filter; what that does is said first."""

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_a_letter_is_replayed_and_its_replay_succeeds(desk, home, served, words):
    scene = Scene(served, home)
    [dead] = await scene.dead_letters("settlement", 1, 503)
    await desk.go("/dead-letters")
    row = desk.page.get_by_role("row").filter(has_text="settlement")
    await expect(row).to_contain_text("HTTP_5XX")
    await row.get_by_role("button", name=words("deadLetters.replay.verb"), exact=True).click()
    await expect(desk.dialog).to_contain_text(words("deadLetters.replay.same"))
    await desk.dialog.get_by_role("button", name=words("deadLetters.replay.verb")).click()
    await expect(row).to_contain_text(words("states.REPLAYED"))
    await row.get_by_role("link", name=words("deadLetters.replayed")).click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.SUCCESS"))
    assert dead not in desk.page.url


async def test_many_are_replayed_by_filter_after_they_were_counted(desk, home, served, words):
    scene = Scene(served, home)
    await scene.dead_letters("settlement", 3, 503)
    await scene.dead_letters("refund_check", 1, 400)
    await desk.go("/dead-letters")
    await desk.press("deadLetters.many.open")
    await expect(desk.dialog).to_contain_text(words("triage.needsFilter"))
    await desk.go("/dead-letters?error_code=HTTP_5XX")
    await expect(desk.page.get_by_role("row").filter(has_text="settlement")).to_have_count(3)
    await expect(desk.page.get_by_role("row").filter(has_text="refund_check")).to_have_count(0)
    await desk.press("deadLetters.many.open")
    await expect(desk.dialog).to_contain_text(words("deadLetters.many.count", count=3))
    await desk.dialog.get_by_label(words("triage.replay.canary")).fill("0")
    await desk.dialog.get_by_role("button", name=words("deadLetters.many.verb")).click()
    await desk.until_seen(desk.page.locator(".page-head").get_by_text(words("states.COMPLETED")), every=2)
    [left] = (await home.ask("GET", "/dead-letters?status=NEW"))["items"]
    assert left["job"] == "refund_check"


async def test_the_former_address_leads_to_the_dead_letters_with_its_filter(desk, home, served):
    await Scene(served, home).dead_letters("settlement", 1, 503)
    await desk.go("/letters?error_code=HTTP_4XX")
    await expect(desk.page).to_have_url(f"{served.url}/console/dead-letters?error_code=HTTP_4XX")
