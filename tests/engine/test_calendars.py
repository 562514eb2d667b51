"""A node reads the calendars that due jobs name, no others; a job whose calendar is not in its cell yet waits."""

from datetime import date

import asyncpg
import pytest

from horae.domain.schedules import Policies
from horae.domain.schedules.calendars import Calendar, CalendarUse
from horae.domain.schedules.triggers import IntervalTrigger
from horae.engine import calendars as engine_calendars
from horae.service.context import Context, PlatformContext
from horae.service.schedules import calendars
from horae.service.tenants import tenants
from horae.store.schedules import calendars as rows
from tests.steps import Looker, a_job, move_clock, name_in, query

EVERY_DAY = frozenset(range(1, 8))


def days(name):
    return Calendar(name=name, first=date(2020, 1, 1), last=date(2040, 12, 31), weekdays=EVERY_DAY)


async def each_second(ctx, store, name, *named):
    """A job that fires each second on the days of these calendars."""
    trigger = IntervalTrigger(1, store.cells[0].clock.now().replace(microsecond=0))
    return await a_job(ctx, name, trigger, policies=Policies(calendars=tuple(CalendarUse(one) for one in named)))


async def names_of_one_cell(ctx, store):
    """The cell of the job `j0`, and names of jobs that lie there too."""
    cell = store.cell(ctx.tenant.shard("j0"))
    return cell, iter([f"j{n}" for n in range(99) if store.cell(ctx.tenant.shard(f"j{n}")) is cell])


async def fires_of(cell, job):
    return [
        row["fire_time"] for row in await query(cell, "select fire_time from instance_live where job_id = $1", job.id)
    ]


@pytest.fixture
def bodies(monkeypatch):
    """The names of the calendars whose bodies were read."""
    read = []
    copies = rows.copies

    async def noted(*args, **kwargs):
        found = await copies(*args, **kwargs)
        read.extend(sorted(found))
        return found

    monkeypatch.setattr(rows, "copies", noted)
    return read


async def test_a_calendar_that_is_new_is_known_to_the_first_job_that_names_it(ctx, store):
    cell, names = await names_of_one_cell(ctx, store)
    await calendars.put(ctx, days("c1"))
    await each_second(ctx, store, next(names), "c1")
    looker = Looker(store, cell)
    await move_clock(store, seconds=2)
    await looker.once()  # the tenant's calendars were read a moment ago
    await calendars.put(ctx, days("c2"))
    second = await each_second(ctx, store, next(names), "c2")
    await move_clock(store, seconds=2)
    await looker.once()
    assert await query(cell, "select reason from instance_history") == []
    assert second.next_fire_at in await fires_of(cell, second)


async def test_a_job_whose_calendar_is_not_in_its_cell_waits_and_fires_when_it_comes(ctx, store):
    await calendars.put(ctx, days("c"))
    job = await each_second(ctx, store, "j0", "c")
    cell = store.cell(job.shard)
    await query(cell, "create table aside as select * from reference where kind = 'calendar'")
    await query(cell, "delete from reference where kind = 'calendar'")
    await move_clock(store, seconds=2)
    looker = Looker(store, cell)
    await looker.once()
    assert await query(cell, "select reason from instance_history") == []
    [cursor] = await query(cell, "select next_fire_at from job_cursor")
    assert cursor["next_fire_at"] == job.next_fire_at
    await query(cell, "insert into reference select * from aside")
    await looker.once()
    assert job.next_fire_at in await fires_of(cell, job)


async def test_a_node_reads_the_named_calendars_alone_and_each_version_once(ctx, store, monkeypatch, bodies):
    monkeypatch.setattr(engine_calendars, "VERSION_REMEMBERED_S", 0.0)
    cell, names = await names_of_one_cell(ctx, store)
    for n in range(5):
        await calendars.put(ctx, days(f"c{n}"))
    await each_second(ctx, store, next(names), "c3")
    looker = Looker(store, cell)
    bodies.clear()
    for _ in range(3):
        await move_clock(store, seconds=1)
        await looker.once()
    assert bodies == ["c3"]
    await calendars.put(ctx, days("c3"))
    bodies.clear()
    await move_clock(store, seconds=1)
    await looker.once()
    assert bodies == ["c3"], "it has another version now"


async def test_a_tenant_whose_calendars_cannot_be_read_keeps_no_other_waiting(ctx, store, monkeypatch):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    cell = store.cell(ctx.tenant.shard("j0"))
    name = name_in(other, cell, "j")
    for one in (ctx, other):
        await calendars.put(one, days("c"))
    held, fired = await each_second(ctx, store, "j0", "c"), await each_second(other, store, name, "c")
    copies = rows.copies

    async def cut(tx, tenant_id, names):
        if tenant_id == ctx.tenant.id:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await copies(tx, tenant_id, names)

    monkeypatch.setattr(rows, "copies", cut)
    await move_clock(store, seconds=2)
    looker = Looker(store, cell)
    await looker.once()
    assert fired.next_fire_at in await fires_of(cell, fired)
    assert await fires_of(cell, held) == []
    monkeypatch.setattr(rows, "copies", copies)
    await looker.once()
    assert held.next_fire_at in await fires_of(cell, held)


async def test_what_no_job_names_any_more_is_forgotten(ctx, store, monkeypatch):
    await calendars.put(ctx, days("c"))
    job = await each_second(ctx, store, "j0", "c")
    looker = Looker(store, store.cell(job.shard))
    await move_clock(store, seconds=2)
    await looker.once()
    now = engine_calendars.boottime() + engine_calendars.UNUSED_CALENDAR_KEPT_S + 1
    monkeypatch.setattr(engine_calendars, "boottime", lambda: now)
    book = looker.firer.almanac
    assert len(book) == 1
    await book.learn([])
    assert len(book) == 0
