"""Somebody at the console: where they go, what they press, what they read."""

import asyncio
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.async_api import Locator, Page, Response, expect

from tests.console.browser import Ears
from tests.console.serving import Served
from tests.console.words import Words


class Desk:
    """A page of a browser, pointed at the console."""

    def __init__(self, page: Page, served: Served, words: Words, *, clock: bool = True) -> None:
        self.page = page
        self.served = served
        self.words = words
        self.ears = Ears(page)
        self.loop = asyncio.get_running_loop()
        self._clock = clock

    async def log_in(self, key: str) -> None:
        """Exchange a key for a session, as a person does."""
        if self._clock:
            await self.page.clock.install()  # it goes on as clocks do, until a test lets time pass
            self._clock = False
        await self.page.goto(f"{self.served.url}/console/")
        await self.page.get_by_label(self.words("login.key")).fill(key)
        await self.page.get_by_label(self.words("login.key")).press("Enter")
        await expect(self.page.get_by_role("banner")).to_be_visible()

    async def log_out(self) -> None:
        """Forget who was here."""
        await self.page.context.clear_cookies()
        await self.page.goto(f"{self.served.url}/console/")
        await expect(self.page.get_by_label(self.words("login.key"))).to_be_visible()

    async def go(self, path: str) -> None:
        """Open a deep link."""
        await self.page.goto(f"{self.served.url}/console{path}")
        await expect(self.page.get_by_role("main")).to_be_visible()

    async def open(self, path: str) -> Response:
        """Open a deep link and wait until all that it asks for is there; gives the answer that the page came with."""
        answer = await self.page.goto(f"{self.served.url}/console{path}")
        assert answer is not None
        await self.settled()
        return answer

    async def settled(self) -> None:
        """Nothing is being loaded any more."""
        await expect(self.page.get_by_role("main")).to_be_visible()
        await expect(self.page.locator("h1")).to_be_visible()
        await expect(self.page.locator(".ant-spin")).to_have_count(0)

    async def later(self, seconds: float) -> None:
        """Let time pass for the page alone: its timers come due."""
        await self.page.clock.fast_forward(int(seconds * 1000) + 50)

    async def until_seen(self, what: Locator, every: float, tries: int = 20) -> None:
        """Let the page ask again and again until it shows something."""
        for _ in range(tries):
            await self.later(every)
            try:
                await expect(what.first).to_be_visible(timeout=1000)
            except AssertionError:
                continue
            return
        await expect(what.first).to_be_visible()

    def field(self, name: str) -> Locator:
        """A field by its label."""
        return self.page.get_by_role("textbox", name=self.words(name))

    @property
    def dialog(self) -> Locator:
        """What asks before something is done."""
        return self.page.get_by_role("dialog")

    async def set_time(self, label: str, at: datetime) -> None:
        """Write a time into a field of the dialog, in the zone of this browser."""
        await self.dialog.get_by_label(label).fill(self.local(at))

    @staticmethod
    def local(at: datetime) -> str:
        """A time as a field has it, in the zone of this browser."""
        return at.astimezone(ZoneInfo("Asia/Shanghai")).strftime("%Y-%m-%dT%H:%M:%S")

    def button(self, name: str, **blanks: object) -> Locator:
        """A button by its text's name."""
        return self.page.get_by_role("button", name=self.words(name, **blanks), exact=True)

    async def press(self, name: str, **blanks: object) -> None:
        """Press a button."""
        await self.button(name, **blanks).click()
