"""The overview shows people of the platform how each cell grows, and nobody else."""

from datetime import date, timedelta

from playwright.async_api import expect

from horae.domain.health.growth import GIB, DaysHeldBack, DaySize, Growth, TableSize
from horae.store.health import growth
from tests.steps import until


async def was_measured(cell):
    async with cell.statement() as tx:
        return await growth.read(tx) is not None


async def measure(cell, disk_gib, **facts):
    """A measurement with figures of our own, after the node has made its first; the next is ten minutes away."""
    await until(lambda: was_measured(cell), 60)
    now = cell.clock.now()
    days = tuple(DaySize(now.date() - timedelta(days=n), 2 * GIB) for n in range(6))
    given = {"held": None, "tables": ()} | facts
    disk = None if disk_gib is None else disk_gib * GIB
    async with cell.direct(owner=True) as connection:
        await growth.write(connection, Growth(now, 14, 8, 12 * GIB, disk, days, **given))


async def test_the_platform_sees_growth_and_a_tenant_does_not(desk, served, words):
    one, other = served.store.cells
    held = DaysHeldBack(3, date(2030, 3, 4), ("warehouse",), 2)
    await measure(one, 20, held=held, tables=(TableSize("instance_live", 2**30, 1_000, 250_000),))
    await measure(other, None)
    await desk.open("/")
    await expect(desk.page.get_by_text(words("overview.growth.title"), exact=True)).to_have_count(0)
    await desk.log_out()
    platform = await served.platform()
    await desk.log_in(platform.key)
    await desk.open("/")
    rows = desk.page.get_by_role("table", name=words("overview.growth.title")).get_by_role("row")
    await expect(rows.filter(has_text=one.name)).to_contain_text("2 GiB")
    await expect(rows.filter(has_text=one.name)).to_contain_text(words("overview.growth.fullIn", disk="20 GiB", days=5))
    await expect(rows.filter(has_text=other.name)).to_contain_text(words("overview.growth.unknown"))
    await expect(desk.page.locator(".banner").filter(has_text="warehouse")).to_contain_text("2030-03-04")
    await expect(desk.page.locator(".banner").filter(has_text="250,000")).to_contain_text("instance_live")
