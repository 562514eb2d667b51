"""Debian's Chromium without a window, driven by Playwright: one process for all tests, a fresh profile for each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.console import witness

PROGRAM = "/usr/bin/chromium-headless-shell"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
LANGUAGES = ("zh-CN", "en")
PATIENCE_MS = 60_000


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """A browser while the block lasts; it downloads nothing and calls nobody."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def profile(browser: Browser, language: str, **wishes: Any) -> AsyncIterator[BrowserContext]:
    """A browser that has never been here before, of someone who reads this language.

    What fails inside is told with what its pages showed at that time.
    """
    told = {"viewport": WIDE, "timezone_id": "Asia/Shanghai", "reduced_motion": "reduce"} | wishes
    context = await browser.new_context(locale="zh-CN" if language == "zh-CN" else "en-GB", **told)
    context.set_default_timeout(PATIENCE_MS)
    witness.watch(context)
    try:
        yield context
    except Exception as error:
        error.add_note(await witness.seen(context))
        raise
    finally:
        await context.close()


class Ears:
    """What a page said that no test should overhear: errors, and what the content security policy stopped."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.refused: list[str] = []
        self.dialogs: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("dialog", self._dismiss)

    def _hear(self, kind: str, text: str) -> None:
        if "Content Security Policy" in text:
            self.refused.append(text)
        elif kind == "error" and not text.startswith("Failed to load resource"):
            self.errors.append(text)

    async def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        await dialog.dismiss()

    def check(self) -> None:
        """Nothing was overheard."""
        assert not self.refused, self.refused
        assert not self.dialogs, self.dialogs
        assert not self.errors, self.errors
