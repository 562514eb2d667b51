"""Somebody at the console: where they go, what they press, what they read."""

from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.async_api import Locator, Page, expect

from tests.console.browser import Ears
from tests.console.serving import Served
from tests.console.words import Words


class Desk:
    """A page of a browser, pointed at the console."""

    def __init__(self, page: Page, served: Served, words: Words) -> None:
        self.page = page
        self.served = served
        self.words = words
        self.ears = Ears(page)

    async def log_in(self, key: str) -> None:
        """Exchange a key for a session, as a person does."""
        await self.page.goto(f"{self.served.url}/console/")
        await self.page.get_by_label(self.words("login.key")).fill(key)
        await self.page.get_by_label(self.words("login.key")).press("Enter")
        await expect(self.page.get_by_role("navigation")).to_be_visible()

    async def go(self, path: str) -> None:
        """Open a deep link."""
        await self.page.goto(f"{self.served.url}/console{path}")
        await expect(self.page.get_by_role("main")).to_be_visible()

    @property
    def dialog(self) -> Locator:
        """What asks before something is done."""
        return self.page.get_by_role("dialog")

    async def set_time(self, label: str, at: datetime) -> None:
        """Write a time into a field of the dialog, in the zone of this browser."""
        local = at.astimezone(ZoneInfo("Asia/Shanghai")).strftime("%Y-%m-%dT%H:%M:%S")
        await self.dialog.get_by_label(label).fill(local)

    def button(self, name: str, **blanks: object) -> Locator:
        """A button by its text's name."""
        return self.page.get_by_role("button", name=self.words(name, **blanks), exact=True)

    async def press(self, name: str, **blanks: object) -> None:
        """Press a button."""
        await self.button(name, **blanks).click()
