"""Secrets: a value is written and never shown, and removing one names what refers to it."""

from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page
from tests.console.scene import SIGNING, Scene

STORED = """() => JSON.stringify(
    [{...localStorage}, {...sessionStorage}, document.cookie, document.documentElement.outerHTML])"""


async def test_a_value_is_written_and_never_shown_and_a_removal_names_what_refers_to_it(served, browser, home, words):
    scene = Scene(served, home)
    hook = {"kind": "webhook", "url": "https://crm.example.com/events", "signing": "crm"}
    await home.ask("PUT", "/secrets/crm", {"value": "first", "hosts": ["crm.example.com"]})
    await home.ask("PUT", "/subscriptions/orders", {"sink": hook})
    await home.ask("PUT", "/alert-channels/oncall", {"channel": hook})
    auth = {"kind": "bearer", "token": "crm"}
    await scene.job("sync_crm", target={"kind": "http", "url": "https://crm.example.com/sync", "auth": auth})
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(home.key)
        await desk.open("/secrets")
        row = desk.page.get_by_role("table", name=words("secrets.title")).get_by_role("row").filter(has_text="crm")
        await row.get_by_role("button", name=words("secrets.put.again"), exact=True).click()
        value = desk.dialog.get_by_label(words("secrets.put.value"), exact=True)
        await expect(value).to_have_attribute("type", "password")
        await value.fill(SIGNING)
        await check_page(desk, "a new value")
        await desk.dialog.get_by_role("button", name=words("secrets.put.verb"), exact=True).click()
        await expect(desk.dialog).to_have_count(0)
        await expect(row).to_contain_text("2")
        assert SIGNING not in await desk.page.evaluate(STORED)
        assert SIGNING not in desk.page.url
        [kept] = (await home.ask("GET", "/secrets"))["items"]
        assert (kept["version"], kept["hosts"]) == (2, ["crm.example.com"]), "the hosts stay as they were"
        await row.get_by_role("button", name=words("secrets.remove"), exact=True).click()
        for name in ("sync_crm", "orders", "oncall"):
            await expect(desk.dialog.get_by_role("link", name=name)).to_be_visible()
        await check_page(desk, "a removal")
        await desk.dialog.get_by_role("button", name=words("secrets.remove"), exact=True).click()
        await expect(desk.dialog).to_have_count(0)
        await expect(desk.page.get_by_text(words("secrets.empty.title"))).to_be_visible()
        assert (await home.ask("GET", "/secrets"))["items"] == []
        await desk.press("secrets.put.open")
        await desk.dialog.get_by_label(words("secrets.name"), exact=True).fill("fresh")
        await desk.dialog.get_by_label(words("secrets.put.value"), exact=True).fill(SIGNING)
        await desk.dialog.get_by_role("button", name=words("secrets.put.verb"), exact=True).click()
        await expect(desk.dialog).to_have_count(0)
        await expect(desk.page.get_by_text(words("secrets.anyHost"))).to_be_visible()
        await desk.log_out()
        await desk.log_in(await home.key_of(Role.VIEWER))
        await expect(desk.page.get_by_role("link", name=words("frame.pages.jobs"), exact=True)).to_be_visible()
        await expect(desk.page.get_by_role("link", name=words("frame.pages.secrets"), exact=True)).to_have_count(0)
        desk.ears.check()
