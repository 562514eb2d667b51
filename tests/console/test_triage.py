"""Dead letters by cause: replayed with a canary, discarded with a reason, tagged, one of them with a new payload."""

from playwright.async_api import expect

from tests.console.desk import Desk
from tests.console.scene import QUICK, Scene


async def open_cause(desk: Desk, scene: Scene, job: str, message: str) -> None:
    """From the list of causes to the one of a job, as soon as a node has found it."""
    await scene.when(f"/failure-causes?job={job}", lambda page: page["items"] and not page["unsorted"])
    await desk.go("/dead-letters")
    await desk.page.get_by_role("link", name=desk.words("triage.views.causes")).click()
    row = desk.page.get_by_role("row").filter(has_text=job)
    await row.get_by_role("link").filter(has_text=message).click()
    await expect(desk.page.locator(".figure.tone-bad")).to_be_visible()


async def test_a_cause_is_replayed_with_a_canary_and_all_of_it_succeeds(desk, home, served, words):
    scene = Scene(served, home)
    await scene.dead_letters("settlement", 4, 503)
    await open_cause(desk, scene, "settlement", "HTTP_5XX")
    await expect(desk.page.get_by_text(words("triage.since.outlook.unknown"))).to_be_visible()
    await desk.press("deadLetters.many.verb")
    await desk.dialog.get_by_label(words("triage.replay.canary")).fill("2")
    await expect(desk.dialog).to_contain_text(words("triage.replay.canaryFirst", count=2))
    await expect(desk.dialog).to_contain_text(words("deadLetters.many.count", count=4))
    await desk.dialog.get_by_role("button", name=words("deadLetters.many.verb")).click()
    await desk.until_seen(desk.page.locator(".page-head").get_by_text(words("states.COMPLETED")), every=2)
    succeeded = desk.page.locator(".figure").filter(has_text=words("triage.replay.count.succeeded"))
    await expect(succeeded).to_contain_text("4")
    await desk.page.get_by_role("link", name=words("triage.views.replays")).click()
    await expect(desk.page.locator("tbody tr")).to_contain_text(words("states.COMPLETED"))


async def test_a_canary_that_dies_stops_its_replay_and_another_is_stopped_by_hand(desk, home, served, words):
    scene = Scene(served, home)
    job = await scene.job("settlement", retry=QUICK)
    await scene.fails(job, *[503] * 100)
    for number in range(3):
        await scene.ended(await scene.trigger("settlement", {"order": number}))
    await open_cause(desk, scene, "settlement", "HTTP_5XX")
    await desk.press("deadLetters.many.verb")
    await desk.dialog.get_by_label(words("triage.replay.canary")).fill("1")
    await desk.dialog.get_by_role("button", name=words("deadLetters.many.verb")).click()
    await desk.until_seen(desk.page.locator(".page-head").get_by_text(words("states.STOPPED")), every=2)
    failed = desk.page.locator(".figure").filter(has_text=words("triage.replay.count.failed"))
    await expect(failed).to_contain_text("1")
    await expect(desk.page.get_by_text(words("triage.reason.canaryFailed", failed=1, sent=1))).to_be_visible()
    await expect(desk.page.get_by_role("button", name=words("triage.replay.stop"), exact=True)).to_have_count(0)

    await home.ask("POST", "/jobs/settlement/pause")  # so that the next replay waits for its canary until it is stopped
    await desk.go("/dead-letters?job=settlement")
    await desk.press("deadLetters.many.open")
    await desk.dialog.get_by_role("button", name=words("deadLetters.many.verb")).click()
    await desk.press("triage.replay.stop")
    await expect(desk.dialog).to_contain_text(words("triage.replay.stopGoOn"))
    await desk.dialog.get_by_role("button", name=words("triage.replay.stop"), exact=True).click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.STOPPED"))


async def test_a_cause_is_tagged_found_by_its_tag_and_discarded_with_a_reason(desk, home, served, words):
    scene = Scene(served, home)
    await scene.dead_letters("settlement", 2, 400)
    await open_cause(desk, scene, "settlement", "HTTP_4XX")
    await desk.press("triage.tags.open")
    await desk.dialog.get_by_label(words("triage.tags.add")).fill("after-the-fix")
    await desk.dialog.get_by_role("button", name=words("triage.tags.open"), exact=True).click()
    await desk.page.get_by_role("link", name="after-the-fix").first.click()
    await expect(desk.page.get_by_role("row").filter(has_text="settlement")).to_have_count(2)
    assert "tag=after-the-fix" in desk.page.url

    await desk.press("triage.discard.open")
    discard = desk.dialog.get_by_role("button", name=words("triage.discard.verb"), exact=True)
    await discard.click()
    await expect(desk.dialog).to_contain_text(words("triage.discard.needsReason"))
    await desk.dialog.get_by_label(words("triage.discard.reason")).fill("the campaign is over")
    await discard.click()
    await expect(desk.page.get_by_text(words("triage.discard.done", changed=2, refused=0))).to_be_visible()
    await expect(desk.page.get_by_role("row").filter(has_text=words("states.DISCARDED"))).to_have_count(2)
    audit = await home.ask("GET", "/audit?action=dead_letter.discarded")
    assert "the campaign is over" in str(audit["items"])


async def test_one_is_replayed_with_an_edited_payload(desk, home, served, words):
    scene = Scene(served, home)
    await scene.dead_letters("settlement", 1, 503)
    await desk.go("/dead-letters")
    row = desk.page.get_by_role("row").filter(has_text="settlement")
    await row.get_by_role("button", name=words("triage.edited.open")).click()
    payload = desk.dialog.get_by_label(words("triage.samples.payload"))
    await expect(payload).to_have_value('{\n  "order": 0\n}')
    await payload.fill('{"order": ')
    await expect(desk.dialog).to_contain_text(words.containing("triage.edited.badJson"))
    await payload.fill('{"order": 42}')
    await desk.dialog.get_by_role("button", name=words("triage.edited.verb"), exact=True).click()
    await row.get_by_role("link", name=words("deadLetters.replayed")).click()
    await expect(desk.page.locator(".page-head")).to_contain_text(words("states.SUCCESS"))
    await expect(desk.page.get_by_text('"order": 42')).to_be_visible()
