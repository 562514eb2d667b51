"""Workers: a queue whose work nobody takes says so, and a worker that polls is listed."""

from playwright.async_api import expect

from tests.console.scene import Scene


async def test_a_queue_without_a_worker_says_so_here_and_at_its_job_until_a_worker_polls(desk, home, served, words):
    scene = Scene(served, home)
    await scene.queue("print_labels")
    for _ in range(3):
        await scene.trigger("print_labels")
    await desk.go("/workers")
    queue = desk.page.get_by_role("group", name=words("workers.queues.title")).locator("tbody tr")
    await expect(queue).to_have_count(1)
    await expect(queue).to_contain_text(words("workers.queues.unattended"))
    await expect(desk.page.get_by_text(words("workers.queues.sentence.unattended", count=1, queues=1))).to_be_visible()
    await expect(desk.page.get_by_text(words("workers.workers.empty.title"))).to_be_visible()
    await queue.get_by_role("cell", name="print_labels").last.get_by_role("link").click()
    line = desk.page.locator("p.hold")
    await expect(line).to_contain_text("print_labels")
    asked = {"queue": "print_labels", "worker_id": "host-1/4711", "limit": 1}
    await home.ask("POST", "/workers/poll", asked)
    await scene.when("/workers", lambda page: len(page["items"]) == 1)
    await desk.go("/workers?queue=print_labels")
    worker = desk.page.get_by_role("group", name=words("workers.workers.title")).locator("tbody tr")
    await expect(worker).to_have_count(1)
    await expect(worker).to_contain_text("host-1/4711")
    await expect(worker).to_contain_text(words("workers.workers.polling"))
    await expect(queue).to_contain_text(words("workers.queues.attended"))
    await desk.page.get_by_label(words("workers.workers.onlyPolling")).check()
    await expect(worker).to_have_count(1)
    assert "polling=true" in desk.page.url
    await desk.go("/jobs/print_labels")
    await expect(line).to_have_count(0)


async def test_a_worker_is_drained_after_its_effect_was_shown_and_resumed_again(desk, home, served, words):
    scene = Scene(served, home)
    await scene.queue("print_labels")
    await scene.trigger("print_labels")
    asked = {"queue": "print_labels", "worker_id": "host-1/4711", "limit": 1}
    assert len((await home.ask("POST", "/workers/poll", asked))["items"]) == 1
    await scene.when("/workers", lambda page: len(page["items"]) == 1)
    await desk.go("/workers")
    worker = desk.page.get_by_role("group", name=words("workers.workers.title")).locator("tbody tr")
    dialog = desk.page.get_by_role("dialog")
    await worker.get_by_role("button", name=words("workers.drain.verb"), exact=True).click()
    await expect(dialog).to_contain_text(words("workers.drain.holds", holds=1))
    await expect(dialog).to_contain_text("print_labels")
    await dialog.get_by_role("button", name=words("workers.drain.verb"), exact=True).click()
    await expect(dialog).to_contain_text(words("workers.drain.needsReason"))
    await dialog.get_by_label(words("workers.drain.reason")).fill("<b>the host</b> is replaced")
    await dialog.get_by_role("button", name=words("workers.drain.verb"), exact=True).click()
    await expect(worker).to_contain_text(words("workers.workers.states.DRAINING"))
    await expect(worker).to_contain_text("<b>the host</b> is replaced")
    polled = await home.ask("POST", "/workers/poll", asked)
    assert (polled["items"], polled["drained"]) == ([], True)
    await worker.get_by_role("button", name=words("workers.resume.verb"), exact=True).click()
    await dialog.get_by_role("button", name=words("workers.resume.verb"), exact=True).click()
    await expect(worker.get_by_role("button", name=words("workers.drain.verb"), exact=True)).to_be_visible()
    assert "drained" not in await home.ask("POST", "/workers/poll", asked)
