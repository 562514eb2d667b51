"""The page of a run: its log is followed while a worker writes it, then its result is shown."""

import asyncio

from playwright.async_api import Page, Request, expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.runs import claimed_run
from tests.console.scene import Scene


class Streams:
    """The streams of log lines that a page opens, and those that are open."""

    def __init__(self, page: Page) -> None:
        self.opened = 0
        self.open: set[Request] = set()
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    def _begin(self, request: Request) -> None:
        if request.url.endswith("/logs/tail"):
            self.opened += 1
            self.open.add(request)

    def _end(self, request: Request) -> None:
        self.open.discard(request)

    async def closed(self) -> None:
        """No stream is open any more."""
        async with asyncio.timeout(60):
            while self.open:
                await asyncio.sleep(0.05)


async def test_the_log_of_a_running_worker_is_followed_to_its_end_by_one_stream(desk, home, served, words):
    scene, streams = Scene(served, home), Streams(desk.page)
    run = await claimed_run(scene, "import_prices")
    await desk.go(f"/instances/{run.instance}")
    await expect(desk.page.locator("#log")).to_contain_text(words("logs.waiting"))
    await expect(desk.page.locator("#result")).to_contain_text(words("logs.result.later"))
    await run.log("page 1 of 2", "page 2 of 2")
    log = desk.page.get_by_role("log")
    await expect(log.locator(".log-line")).to_have_count(2)
    await run.progress(50, "half of the prices")
    await desk.until_seen(desk.page.locator(".run-progress").get_by_text("half of the prices"), every=3)
    await run.log("a price is missing", level="error")
    await expect(log.locator(".tone-bad")).to_contain_text("a price is missing")
    await run.finish({"prices": 500})
    await expect(desk.page.locator("#log")).to_contain_text(words("logs.ended", count=3))
    await desk.until_seen(desk.page.locator("#result").get_by_text('"prices": 500'), every=3)
    assert streams.opened == 1
    await streams.closed()


async def test_of_a_long_log_the_last_lines_are_kept_and_the_stream_is_closed_when_the_page_is_left(
    desk, home, served, words
):
    scene, streams = Scene(served, home), Streams(desk.page)
    run = await claimed_run(scene, "chatty")
    for begin in range(0, 2_100, 700):
        await run.log(*[f"line {number}" for number in range(begin, begin + 700)])
    await desk.go(f"/instances/{run.instance}")
    log = desk.page.get_by_role("log")
    await expect(log).to_contain_text(words("logs.droppedHere", count=100))
    await expect(log.locator(".log-line")).to_have_count(2_000)
    await expect(log.get_by_text("line 2099", exact=True)).to_be_in_viewport()
    assert len(streams.open) == 1
    await desk.page.get_by_role("link", name=words("frame.pages.jobs"), exact=True).click()
    await expect(desk.page.get_by_role("heading", level=1, name=words("frame.pages.jobs"))).to_be_visible()
    await streams.closed()
    assert streams.opened == 1


async def test_who_may_not_read_payloads_is_told_why_there_is_no_log(home, served, words, browser):
    scene = Scene(served, home)
    run = await claimed_run(scene, "import_prices")
    await run.log("a customer's name")
    async with profile(browser, words.language) as context:
        reader = Desk(await context.new_page(), served, words)
        streams = Streams(reader.page)
        await reader.log_in(await home.key_of(Role.VIEWER))
        await reader.go(f"/instances/{run.instance}")
        await expect(reader.page.locator("#log")).to_contain_text(words("logs.notPermitted"))
        await expect(reader.page.locator("#result")).to_contain_text(words("logs.result.notPermitted"))
        assert streams.opened == 0
        reader.ears.check()
