"""The banner of protective measures says what is in force, and lets an admin of the platform decide."""

from playwright.async_api import expect

from tests.steps import query, until

IN_FORCE = """insert into measure (judged_until, since, level_since, changed_at, value, level, tenant_id, name)
              select now(), now(), now(), now(), 4000, 2, '00000000-0000-0000-0000-000000000000', 'trigger_delay_p95'"""
ENDED = "delete from measure"


async def test_the_banner_follows_the_measures_that_are_in_force(desk, served, words):
    banner = desk.page.get_by_role("region", name=words("health.measures.label"), exact=True)

    async def shows(count: int) -> bool:
        await desk.later(2)  # the page asks for the health again
        return await banner.count() == count

    await desk.go("/")
    await expect(banner).to_have_count(0)
    await query(served.store, IN_FORCE)
    try:
        await until(lambda: shows(1), seconds=60)
        await expect(banner).to_contain_text("trigger_delay_p95")
        await expect(banner).to_contain_text(words("health.measures.PAUSE_LOW"))
        await expect(banner).to_contain_text(words("health.measures.ASK_FOR_DISPATCHERS"))
        await expect(banner).not_to_contain_text(words("health.measures.CORE_ONLY"))
    finally:
        await query(served.store, ENDED)
    await until(lambda: shows(0), seconds=60)


async def test_an_admin_of_the_platform_switches_a_measure_off_and_lifts_the_decision(desk, served, words):
    platform = await served.platform()
    await query(served.store, IN_FORCE.replace("now(),", "now() + interval '1 hour',", 1))  # no judge ends it meanwhile
    try:
        await desk.log_out()
        await desk.log_in(platform.key)
        banner = desk.page.get_by_role("region", name=words("health.measures.label"), exact=True)
        await desk.until_seen(banner, 10)
        await expect(banner).to_contain_text(words("health.measures.PAUSE_LOW"))
        await banner.get_by_role("button", name=words("health.measures.override.verb"), exact=True).click()
        await expect(desk.dialog).to_contain_text(words("health.measures.override.effect"))
        confirm = desk.dialog.get_by_role("button", name=words("health.measures.override.verb"))
        await confirm.click()
        await expect(desk.dialog).to_contain_text(words("health.measures.needsReason"))
        await desk.dialog.get_by_label(words("health.measures.reason")).fill("the herd is over")
        await confirm.click()
        await expect(desk.dialog).to_have_count(0)
        await expect(banner).to_contain_text("the herd is over")
        await expect(banner).not_to_contain_text(words("health.measures.PAUSE_LOW"))
        [decided] = await platform.ask("GET", "/measures")
        assert (decided["actions"], decided["override"]["reason"]) == ([], "the herd is over")
        await banner.get_by_role("button", name=words("health.measures.lift.verb"), exact=True).click()
        await desk.dialog.get_by_label(words("health.measures.reason")).fill("it was not")
        await desk.dialog.get_by_role("button", name=words("health.measures.lift.verb")).click()
        await expect(banner).to_contain_text(words("health.measures.PAUSE_LOW"))
        assert [one["override"] for one in await platform.ask("GET", "/measures")] == [None]
    finally:
        await query(served.store, ENDED)
