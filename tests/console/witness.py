"""What a browser showed and what was refused to it: a failure tells more than that something was not seen."""

from collections import deque
from pathlib import Path
from weakref import WeakKeyDictionary

from playwright.async_api import BrowserContext, Error, Page, Request, Response

EXCERPT = 2000
LINES = 25
READ_MS = 3000
_troubles: "WeakKeyDictionary[BrowserContext, deque[str]]" = WeakKeyDictionary()


def watch(context: BrowserContext) -> None:
    """Remember what the pages of this profile asked for in vain."""
    troubles = _troubles[context] = deque(maxlen=LINES)

    def refused(answer: Response) -> None:
        if answer.status >= 400:
            troubles.append(f"{answer.status} {answer.request.method} {answer.url}")

    def lost(sent: Request) -> None:
        troubles.append(f"{sent.failure} {sent.method} {sent.url}")

    context.on("response", refused)
    context.on("requestfailed", lost)


async def seen(context: BrowserContext) -> str:
    """Where its pages are, what they show, and which requests failed."""
    told = [f"{page.url}\n{await _text(page)}" for page in context.pages]
    return "\n\n".join([*told, "requests that failed:", *_troubles.get(context, ())])


async def _text(page: Page) -> str:
    try:
        text = await page.locator("body").inner_text(timeout=READ_MS)
    except Error as error:  # it is gone, or hangs: the failure itself is what matters
        return f"(unreadable: {error.message.splitlines()[0]})"
    return "\n".join(line for line in text.splitlines() if line.strip())[:EXCERPT]


def last_lines(log: Path) -> str:
    """The end of a log."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join([f"{log.name}:", *lines[-LINES:]])
