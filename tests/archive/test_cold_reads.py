"""Live, hot and cold instances in one list, row for row as they were before their days were dropped."""

import asyncio
import random
from datetime import timedelta

import pytest

from horae.archive import row_queries
from horae.archive.day_reader import newest_manifest
from horae.archive.day_writer import delete_replaced, publish
from horae.archive.layout import DayFolder
from horae.archive.object_store import open_target
from horae.archive.rewriting import write_without
from horae.archive.row_queries import RowOrder
from horae.domain.errors import ArchiveUnavailable, Conflict, NoLongerKept, NotFound
from horae.domain.ids import compose, shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.instances.searches import ANY, NEWEST, InstanceFilter, InstanceOrder
from horae.runtime.settings import Settings
from horae.service.context import Context, PlatformContext
from horae.service.instances import cold as cold_reads
from horae.service.instances import interventions, searches, tiers
from horae.service.instances.searches import Bounds
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.databases import archived_days, days
from horae.store.store import Store
from horae.upkeep.archive import DayArchiver
from tests.archive.cold_days import PATIENCE_S, archive_days, drop_days, reading, some_rows
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import day_of
from tests.cell_down import first_behind, mended_proxy
from tests.keyring import sealed
from tests.steps import a_job, a_type

COLD, OLDEST = 4, 9
"""The days before so many days ago are cold; the oldest rows ended so many days ago."""
ROWS = 13
"""Rows on a page: few enough that tiers end within pages."""
SEARCHES = {
    "all": ANY,
    "states": InstanceFilter((State.DEAD, State.SKIPPED)),
    "key": InstanceFilter(business_key="order-3"),
    "key and state": InstanceFilter((State.SUCCESS,), business_key="order-1"),
    "no such key": InstanceFilter(business_key="order-99"),
}


async def all_pages(read, limit=ROWS):
    """All pages of a list, and how many of them were read from the archive."""
    found, at, cold = [], tiers.START, 0
    while at is not None:
        page = await read(at)
        assert len(page.found) <= limit
        cold += page.archive is not None
        assert page.next is None or page.next != at, "a page leads on"
        found += page.found
        at = page.next
    assert len({one.id for one in found}) == len(found)
    return found, cold


async def listed_hot(ctx, job, sought=ANY):
    return (await searches.of_job(ctx, job, sought, bounds=Bounds(1000, 100_000))).found


def nameless(rows):
    """Without the names of jobs: PostgreSQL gives those of the jobs in the same cell, the archive all."""
    return [one._replace(job=None) for one in rows]


def in_tiers(rows, cold_ids, key):
    """Rows as a tiered list has them: first those that are not cold, each part newest first."""
    return sorted((one for one in rows if one.id not in cold_ids), key=key, reverse=True) + sorted(
        (one for one in rows if one.id in cold_ids), key=key, reverse=True
    )


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(tiers, "CROSSING_S", PATIENCE_S)


@pytest.fixture
async def jobs_with_past(ctx, store, past):
    """A type with instances in both cells and a job in one, over live, hot and what will be cold; the cold ids."""
    dice, cold = random.Random(20), set()
    task_type, cron = await a_type(ctx), await a_job(ctx, "cron")
    for ago in range(1, OLDEST + 1):
        for cell in store.cells:
            shard = next(one for one in range(4096) if store.cell(one) is cell)
            made = await some_rows(cell, ctx.tenant.id, task_type.id, ago, 6, dice, keyed=True, shard=shard)
            cold.update(made if ago >= COLD else [])
        cell = store.cell(cron.shard)
        made = await some_rows(cell, ctx.tenant.id, cron.id, ago, 5, dice, keyed=False, shard=cron.shard)
        cold.update(made if ago >= COLD else [])
    await tasks.schedule(ctx, task_type.name, "order-3", at=ctx.now() + timedelta(days=2))
    return task_type, cron, cold


async def test_pages_over_three_tiers_are_row_for_row_what_was_there(ctx, store, settings, jobs_with_past):
    *both, cold = jobs_with_past
    now = store.cells[0].clock.now()
    spans = {
        "since": InstanceFilter(since=now - timedelta(days=7)),
        "until": InstanceFilter(until=now - timedelta(days=6)),
        "span": InstanceFilter(since=now - timedelta(days=8), until=now - timedelta(days=5)),
    }
    before = {}
    for job in both:
        for name, sought in (SEARCHES | spans).items():
            before[job.name, name] = await listed_hot(ctx, job, sought)
    whole = {one.id: await searches.find(ctx, one.id) for job in both for one in before[job.name, "all"]}
    tenant_before = {
        name: (await searches.of_tenant(ctx, sought, limit=1000, seconds=60)).found
        for name, sought in (SEARCHES | spans).items()
    }
    target = open_target(settings)
    await archive_days(DayArchiver(store, target, KEPT, EXPIRY))
    await drop_days(store, COLD)
    now_reading = reading(ctx, target)
    for (job_name, name), rows in before.items():
        sought = (SEARCHES | spans)[name]
        found, cold_pages = await all_pages(
            lambda at, job=job_name, such=sought: tiers.of_job_ref(now_reading, job, such, at=at, bounds=Bounds(ROWS))
        )
        assert found == in_tiers(rows, cold, lambda one: one.mark), (job_name, name)
        assert cold_pages
    for name, rows in tenant_before.items():
        sought = (SEARCHES | spans)[name]
        found, _ = await all_pages(lambda at, sought=sought: tiers.of_tenant(now_reading, sought, at=at, limit=ROWS))
        assert nameless(found) == nameless(in_tiers(rows, cold, lambda one: one.id)), name
    by_fire = await cold_reads.page(now_reading, None, RowOrder.FIRE_TIME, ANY, NEWEST, 1000)
    everything = [one for one in tenant_before["all"] if one.id in cold]
    assert nameless(by_fire.found) == nameless(sorted(everything, key=lambda one: one.mark, reverse=True))
    for id_, record in whole.items():
        found, read = await tiers.find(now_reading, id_)
        assert nameless([found]) == nameless([record])
        assert (read is not None) == (id_ in cold)
    await now_reading.memory.archive.close()


async def test_one_page_crosses_live_hot_and_cold(ctx, store, folder_target, archiver, jobs_with_past):
    task_type, _, cold = jobs_with_past
    rows = await listed_hot(ctx, task_type)
    await archive_days(archiver)
    await drop_days(store, COLD)
    page = await tiers.of_job_ref(reading(ctx, folder_target), task_type.name, bounds=Bounds(200))
    assert page.found == in_tiers(rows, cold, lambda one: one.mark)
    assert page.next is None
    assert "INIT" in {one.state for one in page.found}
    assert page.archive.days == OLDEST - COLD + 1
    assert page.archive.requests > 0
    assert page.archive.bytes > 0


async def test_all_instances_by_fire_time_go_on_into_the_archive(ctx, store, folder_target, archiver, jobs_with_past):
    *_, cold = jobs_with_past
    rows = (await searches.by_fire_time(ctx, bounds=Bounds(1000, 100_000))).found
    await archive_days(archiver)
    await drop_days(store, COLD)
    now_reading, order = reading(ctx, folder_target), InstanceOrder.FIRE_TIME
    found, cold_pages = await all_pages(lambda at: tiers.of_tenant(now_reading, at=at, limit=ROWS, order=order))
    assert nameless(found) == nameless(in_tiers(rows, cold, lambda one: one.mark))
    assert cold_pages


async def test_a_day_is_cold_as_soon_as_its_table_is_detached(ctx, store, folder_target, archiver, jobs_with_past):
    """Readers do not see the rows of a detached table; its drop is recorded later."""
    _, cron, _ = jobs_with_past
    rows = await listed_hot(ctx, cron)
    await archive_days(archiver)
    cell = store.cell(cron.shard)
    async with cell.direct(owner=True) as connection:
        day = day_of(cell, 5)
        await days.mark(connection, day)
        await days.detach(connection, day, 10)
    page = await tiers.of_job_ref(reading(ctx, folder_target), "cron", bounds=Bounds(200))
    assert {one.id for one in page.found} == {one.id for one in rows}
    assert page.archive.days == 1


async def test_a_page_of_hot_instances_does_not_read_the_archive(ctx, store, folder_target, archiver, jobs_with_past):
    await archive_days(archiver)
    await drop_days(store, COLD)
    page = await tiers.of_job_ref(reading(ctx, folder_target), "cron", bounds=Bounds(5))
    assert page.archive is None
    live = await tiers.of_job_ref(reading(ctx, folder_target), "cron", InstanceFilter((State.RUNNING,)))
    assert (live.found, live.next, live.archive) == ([], None, None)


async def test_an_instance_of_another_tenant_in_the_same_group_is_not_found(ctx, store, folder_target, archiver):
    """S-02: files have the rows of several tenants, whose jobs have the same names."""
    other = await _tenant_of_same_group(store, ctx.tenant)
    strange = Context.of(store, other, "test")
    dice, own, theirs = random.Random(2), [], []
    for one, ids in ((ctx, own), (strange, theirs)):
        task_type, cron = await a_type(one), await a_job(one, "cron")
        for ago in (5, 6):
            for job, keyed in ((task_type, True), (cron, False)):
                cell = store.cell(job.shard)
                facts = {"keyed": keyed, "shard": job.shard}
                ids.extend(await some_rows(cell, one.tenant.id, job.id, ago, 20, dice, **facts))
    await archive_days(archiver)
    await drop_days(store, COLD)
    sought = InstanceFilter(business_key="order-1")
    for one, mine, foreign in ((ctx, own, theirs), (strange, theirs, own)):
        caller = reading(one, folder_target)
        listed = []
        for read in (
            lambda at, caller=caller: tiers.of_job_ref(caller, "cron", at=at, bounds=Bounds(ROWS)),
            lambda at, caller=caller: tiers.of_job_ref(caller, "ARTICLE_PUBLISH", at=at, bounds=Bounds(ROWS)),
        ):
            listed += (await all_pages(read))[0]
        assert {one.id for one in listed} == set(mine)
        everything, _ = await all_pages(lambda at, caller=caller: tiers.of_tenant(caller, at=at, limit=ROWS))
        assert {one.id for one in everything} == set(mine)
        by_key, _ = await all_pages(
            lambda at, caller=caller: tiers.of_job_ref(caller, "ARTICLE_PUBLISH", sought, at=at, bounds=Bounds(ROWS))
        )
        assert by_key
        assert {one.id for one in by_key} < set(mine)
        for id_ in foreign:
            with pytest.raises(NotFound) as refusal:
                await tiers.find(caller, id_)
            assert refusal.value.status == 404
        assert (await tiers.find(caller, mine[0])).found.id == mine[0]


async def _tenant_of_same_group(store, tenant):
    for number in range(1000):
        made = await tenants.create(PlatformContext(store, "test"), f"other-{number}", width=4)
        if made.id.int % 64 == tenant.id.int % 64:
            return made
    raise AssertionError("no tenant of the same group")


async def test_a_row_of_another_tenant_is_refused_even_if_the_archive_returns_it(
    ctx, store, folder_target, archiver, jobs_with_past, monkeypatch
):
    """S-02: the last of three checks, should the others fail."""
    await archive_days(archiver)
    await drop_days(store, COLD)
    other = await tenants.create(PlatformContext(store, "test"), "other", width=4)
    caller = reading(ctx, folder_target)
    reader = caller.memory.archive
    honest = reader.page

    async def of_another(days, query, seconds=None):
        page = await honest(days, query, seconds)
        return page._replace(rows=[row | {"tenant_id": other.id} for row in page.rows])

    monkeypatch.setattr(reader, "page", of_another)
    with pytest.raises(Exception, match="another tenant"):
        await tiers.of_job_ref(caller, "cron", bounds=Bounds(200))


async def test_what_is_neither_hot_nor_cold_is_gone(ctx, store, folder_target, archiver, jobs_with_past):
    _, cron, cold = jobs_with_past
    cell = store.cell(cron.shard)
    await archive_days(archiver)
    await drop_days(store, COLD)
    for one in store.cells:
        async with one.direct(owner=True) as connection:
            await connection.execute("delete from archived_day where day < $1", day_of(cell, 10).day)
    caller = reading(ctx, folder_target)
    never = compose(cron.shard, int((day_of(cell, 8).begin).timestamp() * 1000), 7)
    with pytest.raises(NotFound) as unknown:
        await tiers.find(caller, never)
    assert unknown.value.status == 404, "all days that could have it are kept"
    old = compose(cron.shard, int((day_of(cell, 25).begin).timestamp() * 1000), 7)
    with pytest.raises(NoLongerKept):
        await tiers.find(caller, old)
    then = InstanceFilter(since=day_of(cell, 20).begin, until=day_of(cell, 18).begin)
    with pytest.raises(NoLongerKept):
        await tiers.of_job_ref(caller, "cron", then)
    with pytest.raises(NoLongerKept):
        await tiers.find(ctx, next(iter(cold)))  # without an archive


async def test_an_archived_instance_cannot_be_cancelled(ctx, store, folder_target, archiver, jobs_with_past):
    *_, cold = jobs_with_past
    await archive_days(archiver)
    await drop_days(store, COLD)
    with pytest.raises(Conflict, match="has ended already"):
        await interventions.cancel(reading(ctx, folder_target), next(iter(cold)))


async def test_a_file_that_is_replaced_while_it_is_searched_is_read_anew(
    ctx, store, folder_target, archiver, jobs_with_past, tmp_path
):
    """A tenant is removed: its rows leave the archive as a new generation, and the old files are deleted."""

    _, cron, cold = jobs_with_past
    leaver = await _tenant_of_same_group(store, ctx.tenant)
    cell = store.cell(cron.shard)
    await some_rows(cell, leaver.id, cron.id, 6, 5, random.Random(3), keyed=False, shard=cron.shard)
    rows = await listed_hot(ctx, cron)
    await archive_days(archiver)
    await drop_days(store, COLD)
    caller = reading(ctx, folder_target)
    reader = caller.memory.archive
    honest, calls = reader.page, []

    async def rewritten_meanwhile(days, query, seconds=None):
        if not calls:
            async with cell.direct(owner=True) as connection:
                known = (await archived_days.listing(connection))[day_of(cell, 6).day]
                folder = DayFolder(known.day, known.archive_id)
                manifest = write_without(folder_target, newest_manifest(folder_target, folder), [leaver.id])
                publish(folder_target, manifest)
                delete_replaced(folder_target, manifest)
                facts = (manifest.rows, manifest.bytes, cell.clock.now(), cell.clock.now())
                assert await archived_days.record(connection, known.day, manifest.generation, *facts)
        calls.append(days)
        return await honest(days, query, seconds)

    reader.page = rewritten_meanwhile
    page = await tiers.of_job_ref(caller, "cron", bounds=Bounds(200))
    assert len(calls) == 2
    assert page.found == in_tiers(rows, cold, lambda one: one.mark)


async def test_a_lost_file_is_an_error_and_hot_instances_are_listed_all_the_same(
    ctx, store, folder_target, archiver, jobs_with_past, tmp_path
):
    _, cron, cold = jobs_with_past
    rows = await listed_hot(ctx, cron)
    await archive_days(archiver)
    await drop_days(store, COLD)
    for file in (tmp_path / "archive").rglob("*.parquet"):
        file.unlink()
    caller = reading(ctx, folder_target)
    page = await tiers.of_job_ref(caller, "cron", bounds=Bounds(200))
    assert {one.id for one in page.found} == {one.id for one in rows} - cold
    assert page.next == tiers.COLD_START
    with pytest.raises(ArchiveUnavailable, match="missing in the archive") as refusal:
        await tiers.of_job_ref(caller, "cron", at=page.next)
    assert (refusal.value.status, refusal.value.code) == (503, "SCH_503_ARCHIVE")
    with pytest.raises(ArchiveUnavailable):
        await tiers.find(caller, next(id_ for id_ in cold if shard_in(id_) == cron.shard))


async def test_an_archive_that_does_not_answer_leaves_hot_pages_alone(ctx, store, archiver, jobs_with_past):
    _, cron, cold = jobs_with_past
    rows = await listed_hot(ctx, cron)
    await archive_days(archiver)
    await drop_days(store, COLD)
    away = Settings(archive="s3://no/where", archive_endpoint="http://127.0.0.1:9", environment="test")
    caller = reading(ctx, open_target(away, reading=True))
    page = await tiers.of_job_ref(caller, "cron", bounds=Bounds(200))
    assert {one.id for one in page.found} == {one.id for one in rows} - cold
    with pytest.raises(ArchiveUnavailable):
        await tiers.of_job_ref(caller, "cron", at=page.next)


async def test_days_of_a_cell_that_is_down_are_missing_and_named(
    cells, ctx, store, folder_target, archiver, jobs_with_past
):
    *_, cold = jobs_with_past
    await archive_days(archiver)
    await drop_days(store, COLD)
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy)) as other:
            caller = reading(Context.of(sealed(other), ctx.tenant, "test"), folder_target)
            proxy.refuse()
            page = await tiers.of_tenant(caller, at=tiers.COLD_START, limit=1000)
            assert caller.cells_down == {cells[0].name}
            assert {one.id for one in page.found} == {
                id_ for id_ in cold if store.cell(shard_in(id_)) is store.cells[1]
            }


async def test_a_search_that_reaches_its_bounds_gives_a_short_page_and_goes_on(
    ctx, store, folder_target, archiver, monkeypatch
):
    """With time for few reads, every page is short; together they have all rows."""
    cron, dice = await a_job(ctx, "cron"), random.Random(4)
    cell = store.cell(cron.shard)
    for ago in range(COLD, COLD + 9):
        facts = {"keyed": False, "shard": cron.shard, "states": ["SUCCESS"]}
        await some_rows(cell, ctx.tenant.id, cron.id, ago, 9, dice, **facts)
    rows = await listed_hot(ctx, cron)
    await archive_days(archiver)
    await drop_days(store, COLD)
    caller = reading(ctx, folder_target)
    whole = await tiers.of_job_ref(caller, "cron", bounds=Bounds(200))  # all small files are in memory now
    assert whole.found == rows
    caller.memory.archive._seconds = 5.0
    ticks = iter(range(10**9))
    monkeypatch.setattr(row_queries.ReadMeter.__init__, "__defaults__", (5.0, 1 << 30, lambda: next(ticks) / 3))
    found, cold_pages = await all_pages(lambda at: tiers.of_job_ref(caller, "cron", at=at, bounds=Bounds(200)), 200)
    assert found == rows
    assert cold_pages > 1


async def test_reads_of_one_tenant_go_one_at_a_time(ctx, store, folder_target, archiver, jobs_with_past):
    await archive_days(archiver)
    await drop_days(store, COLD)
    caller = reading(ctx, folder_target)
    searcher = caller.memory.archive._searcher
    honest, at_once, most = searcher.page, [], []

    def counted(*args):
        at_once.append(1)
        most.append(len(at_once))
        try:
            return honest(*args)
        finally:
            at_once.pop()

    searcher.page = counted
    cold_page = (tiers.of_job_ref(caller, "cron", at=tiers.COLD_START) for _ in range(5))
    pages = await asyncio.gather(*cold_page)
    assert len({tuple(one.id for one in page.found) for page in pages}) == 1
    assert most == [1] * 5
