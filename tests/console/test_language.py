"""The language of the console changes on every page, and the pages that are opened later have its texts."""

from playwright.async_api import expect

from tests.console.browser import LANGUAGES
from tests.console.words import Words

NAMES = {"en": "English", "zh-CN": "中文"}


async def test_another_language_shows_on_the_open_page_on_the_next_one_and_after_a_reload(desk, words):
    other = Words(next(language for language in LANGUAGES if language != words.language))
    title = desk.page.get_by_role("heading", level=1)
    await desk.go("/jobs")
    await expect(title).to_have_text(words("jobs.title"))
    await desk.page.get_by_role("button", name=words("frame.person.menu")).click()
    await desk.page.get_by_role("menuitem", name=NAMES[other.language]).click()
    await expect(title).to_have_text(other("jobs.title"))
    await desk.page.get_by_role("link", name=other("frame.pages.secrets")).click()
    await expect(title).to_have_text(other("secrets.title"))
    await desk.page.reload()
    await expect(title).to_have_text(other("secrets.title"))
