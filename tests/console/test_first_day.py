"""What a first day of use found on the screen: it says what is so, in the words of its language."""

import pytest
from playwright.async_api import expect

from tests.console.scene import QUICK, Scene


async def test_a_paused_job_says_before_the_button_is_pressed_that_it_cannot_be_triggered(desk, home, served, words):
    """TRIAL 5.2: the dialog promised a run that waits, and the server refused it."""
    scene = Scene(served, home)
    await scene.job("resting")
    await home.ask("POST", "/jobs/resting/pause")
    await desk.go("/jobs/resting")
    await desk.press("jobs.action.trigger")
    await expect(desk.dialog).to_contain_text(words("jobs.trigger.paused"))
    await expect(desk.dialog.get_by_role("button", name=words("jobs.action.trigger"))).to_be_disabled()


async def test_a_replay_has_a_word_and_a_tone_in_the_ledger(desk, home, served, words):
    """TRIAL 5.3: the raw key `decision.replayed`, and black dots."""
    scene = Scene(served, home)
    job = await scene.type("REPLAYED", retry=QUICK)
    await scene.fails(job, 400)
    put = await scene.put("REPLAYED", "k-1")
    await scene.ended(put["instance_id"])
    await home.ask("POST", f"/dead-letters/{put['instance_id']}/replay")
    await desk.go("/tasks/REPLAYED/k-1")
    line = desk.page.locator('[data-decision="replayed"]')
    await expect(line).to_contain_text(words("tasks.decision.replayed"))
    await expect(line).to_have_class("tone-busy")


@pytest.mark.parametrize(("seconds", "shown"), [(None, "24 h"), (90, "1 min 30 s")])
async def test_a_job_says_for_how_long_its_runs_may_wait(desk, home, served, words, seconds, shown):
    scene = Scene(served, home)
    name = f"patient-{seconds}"
    await scene.job(name, cron="0 0 1 1 *", **({} if seconds is None else {"expires_after": seconds}))
    await desk.go(f"/jobs/{name}")
    said = shown if seconds else words("jobs.facts.expiresDefault", length=shown)
    await expect(desk.page.locator("dl.facts").last).to_contain_text(said)
    await desk.go(f"/jobs/{name}/edit")
    field = desk.page.get_by_role("spinbutton", name=words("jobs.form.expires"))
    await expect(field).to_have_value("" if seconds is None else str(seconds))
