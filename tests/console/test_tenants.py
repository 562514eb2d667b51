"""The tenant's own desk: a key that is shown once, roles for a group, a pause of everything."""

import httpx2
from playwright.async_api import expect


async def test_a_key_is_made_and_shown_once_and_opens_what_its_role_allows(desk, served, words):
    await desk.go("/tenants")
    await desk.press("tenants.keys.create")
    await desk.dialog.get_by_label(words("tenants.keys.name")).fill("night-shift")
    await desk.dialog.get_by_label(words("tenants.roles.label")).click()
    await desk.page.locator(".ant-select-item-option").filter(has_text="operator").click()
    await desk.page.keyboard.press("Escape")
    await desk.dialog.get_by_role("button", name=words("tenants.keys.make")).click()
    await expect(desk.dialog).to_contain_text(words("tenants.keys.once"))
    text = await desk.dialog.locator(".line pre").inner_text()
    async with httpx2.AsyncClient(
        base_url=f"{served.url}/api/v1", headers={"Authorization": f"Bearer {text}"}
    ) as client:
        assert (await client.get("/me")).json()["roles"] == ["operator"]
    await desk.dialog.get_by_role("button", name=words("tenants.keys.kept")).click()
    await expect(desk.page.locator("#keys").get_by_role("row").filter(has_text="night-shift")).to_be_visible()
    assert text not in await desk.page.content()


async def test_a_group_gets_a_role_and_the_tenant_is_paused_and_resumed_after_the_effect_was_read(desk, home, words):
    await desk.go("/tenants")
    await desk.press("tenants.bindings.create")
    await desk.dialog.get_by_label(words("tenants.bindings.principal")).fill("group:operations")
    await desk.dialog.get_by_label(words("tenants.roles.label")).click()
    await desk.page.locator(".ant-select-item-option").filter(has_text="viewer").click()
    await desk.page.keyboard.press("Escape")
    await desk.dialog.get_by_role("button", name=words("tenants.bindings.verb"), exact=True).click()
    await expect(desk.page.get_by_role("row").filter(has_text="group:operations")).to_contain_text("viewer")
    for verb, status in (("pause", "PAUSED"), ("resume", "ACTIVE")):
        await desk.press(f"tenants.{verb}.verb")
        await expect(desk.dialog).to_contain_text(words(f"tenants.{verb}.second"))
        await desk.dialog.get_by_role("button", name=words(f"tenants.{verb}.verb")).click()
        await expect(desk.page.locator("#own")).to_contain_text(words(f"states.{status}"))
        assert (await home.ask("GET", "/tenant/status"))["status"] == status
