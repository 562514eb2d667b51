"""The pages of retention and of capacity: terms for a tenant, days, lag, load and growth for the platform."""

from datetime import timedelta

from playwright.async_api import expect

from horae.domain.health.growth import GIB, ArchiveLag, DaySize, Growth, LagReason, RetentionTerms
from horae.store.health import growth
from tests.console.browser import profile
from tests.console.desk import Desk
from tests.console.page_checks import AXE, check_page
from tests.console.test_growth import was_measured
from tests.steps import query, until

TERMS = RetentionTerms(history=14, held=7, logs=3, dead_letters=90, ended_jobs=105, audit=180, archive=90)
FAILURE = "<img src=x onerror=window.__pwned=1> connection refused"
ARCHIVED = """
    insert into archived_day (day, archive_id, state, generation, rows, bytes, archived_at, dropped_at, cleared_until,
                              closing_xid)
    select $1::date - n, gen_random_uuid(), 'ARCHIVED', 1, 1000, 1048576, now(), now(), now(), 1
    from generate_series(20, 24) n on conflict do nothing"""


async def measure(cell):
    """A measurement with figures of our own: an archive that is away, and a disk that is full in five days."""
    await until(lambda: was_measured(cell), 60)
    now = cell.clock.now()
    await query(cell, ARCHIVED, now.date())
    days = tuple(DaySize(now.date() - timedelta(days=ago), 2 * GIB) for ago in range(6))
    lag = ArchiveLag(2, now.date() - timedelta(days=2), LagReason.FAILED, (), FAILURE)
    async with cell.direct(owner=True) as connection:
        measured = Growth(now, 14, 8, 12 * GIB, 20 * GIB, days, (), terms=TERMS, lag=lag)
        await growth.write(connection, measured)
    return now.date()


async def test_a_tenant_sees_terms_and_the_platform_days_lag_load_and_when_a_disk_is_full(served, browser, home, words):
    platform, cell = await served.platform(), served.store.cells[0]
    today = await measure(cell)
    async with profile(browser, words.language, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(home.key)
        await desk.open("/")
        await expect(desk.page.get_by_role("link", name=words("frame.pages.capacity"))).to_have_count(0)
        await desk.page.get_by_role("link", name=words("frame.pages.retention"), exact=True).click()
        terms = desk.page.get_by_role("table", name=words("retention.terms.title"))
        history = terms.get_by_role("row").filter(has_text="HORAE_HISTORY_DAYS")
        await expect(history).to_contain_text(words("retention.terms.count", count=14))
        await expect(desk.page.locator(f"#cell-{cell.name}")).to_have_count(0)
        await check_page(desk, "retention")
        await desk.log_out()
        await desk.log_in(platform.key)
        await desk.open("/retention")
        card = desk.page.locator(f"#cell-{cell.name}")
        await expect(card.locator(".banner")).to_contain_text(words("retention.lag.FAILED", failure=FAILURE))
        first, last = today - timedelta(days=24), today - timedelta(days=20)
        run = card.get_by_role("row").filter(has_text=f"{first} – {last}")
        for text in (words("retention.places.ARCHIVED"), "5 MiB", "5,000"):
            await expect(run).to_contain_text(text)
        assert await desk.page.evaluate("window.__pwned ?? 0") == 0
        await check_page(desk, "retention of the platform")
        await desk.page.get_by_role("link", name=words("retention.capacity"), exact=True).first.click()
        grown = desk.page.locator(f"#growth-{cell.name}")
        full = words("capacity.growth.fullOn", day=today + timedelta(days=5), days=5)
        await expect(grown).to_contain_text(full)
        await expect(grown).to_contain_text(words("capacity.growth.disk", used="12 GiB", disk="20 GiB", percent=60))
        load = desk.page.get_by_role("table", name=words("capacity.load.title"))
        await expect(load).to_contain_text((await platform.ask("GET", "/scheduler/growth"))["measured"]["cell_source"])
        await check_page(desk, "capacity")
        await grown.get_by_role("link", name=words("capacity.growth.days", count=14)).click()
        await expect(card).to_be_visible()
        desk.ears.check()
