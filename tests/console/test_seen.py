"""Every page: for people who cannot point or see well, on a phone, by day and by night; and nothing inline."""

import pytest
from playwright.async_api import expect

from tests.console.browser import NARROW, profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, RUN, WIDER
from tests.console.pages import PLATFORM, pages_of
from tests.console.words import Words

MARK = """() => {
    const seen = [...document.querySelectorAll(
        "button:not([disabled]), a[href], input:not([disabled]), textarea, summary, [role=button], [role=combobox]")]
        .filter(one => one.tabIndex >= 0 && one.checkVisibility({visibilityProperty: true}) && !one.closest("[inert]"));
    seen.forEach((one, number) => { one.dataset.walk = number; });
    document.activeElement?.blur?.();
    return seen.length;
}"""
FOCUSED = "() => document.activeElement?.closest('[data-walk]')?.dataset.walk ?? null"
LEFT = """(met) => [...document.querySelectorAll('[data-walk]')].filter(one => !met.includes(one.dataset.walk))
    .map(one => one.outerHTML.slice(0, 200))"""


PARTS = 3
"""Parts of the pages: axe takes seconds for each page, and a test may not take for ever."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    ("language", "scheme"), [pytest.param("zh-CN", "light", marks=pytest.mark.long), ("en", "dark")]
)
async def test_no_page_has_a_serious_fault_in_the_eyes_of_axe(served, browser, lived, language, scheme, part):
    (home, made), platform = lived, await served.platform()
    async with profile(browser, language, color_scheme=scheme, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, Words(language))
        await desk.page.goto(f"{served.url}/console/")
        await expect(desk.page.get_by_label(desk.words("login.key"))).to_be_visible()
        assert await desk.page.evaluate(RUN) == [], "login"
        for key, pages in ((home.key, pages_of(made)), (platform.key, PLATFORM)):
            await desk.log_in(key)
            for name, path in [*pages.items()][part::PARTS]:
                await desk.open(path)
                assert await desk.page.evaluate(RUN) == [], name
            await desk.log_out()


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("language", ["zh-CN"])
async def test_every_page_fits_a_phone_its_actions_are_reached_by_keyboard_and_its_policy_holds(
    served, browser, lived, language, part
):
    home, made = lived
    async with profile(browser, language) as context:
        desk = Desk(await context.new_page(), served, Words(language))
        await desk.log_in(home.key)
        for name, path in [*pages_of(made).items()][part::PARTS]:
            answer = await desk.open(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'self'" in policy, name
            assert "style-src 'self' 'nonce-" in policy, name
            assert "unsafe" not in policy, name
            await walk_by_keyboard(desk, name)
            await desk.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
            await desk.settled()
            assert await desk.page.evaluate(WIDER) <= 0, f"{name} is wider than a phone"
            await desk.page.set_viewport_size({"width": 1440, "height": 900})
        desk.ears.check()


async def walk_by_keyboard(desk: Desk, name: str) -> None:
    """Tab comes to everything that can be done."""
    many, met = await desk.page.evaluate(MARK), set()
    for _ in range(many * 3 + 60):  # a field for a time has a stop for each of its parts
        await desk.page.keyboard.press("Tab")
        met.add(await desk.page.evaluate(FOCUSED))
        if len(met - {None}) >= many:
            break
    left = await desk.page.evaluate(LEFT, list(met - {None}))
    assert left == [], (name, left)
