"""Days are archived when closed, dropped only when safely there, cleared of removed tenants, and deleted in time."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from horae.archive import day_reader, sorting
from horae.archive.columns import rows_of
from horae.archive.layout import DayFolder
from horae.domain.errors import Unavailable
from horae.domain.events.channels import Broker, Subscription, TopicAddress
from horae.service.events import subscriptions
from horae.service.tenants import lifecycle
from horae.store.databases import archived_days
from horae.upkeep import days as dropping
from horae.upkeep.archive import CLOSING_MARGIN, DayArchiver
from horae.upkeep.copies import Copier
from horae.upkeep.days import DayDropper
from horae.upkeep.purges import Purger
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import comparable, day_of, insert, insert_all_kinds, make_days, rows_in, some_id
from tests.steps import a_job, move_clock, query

HELD = timedelta(days=7)
REGISTER = "select * from archived_day where day = $1"


async def known_day(cell, day):
    found = await query(cell, REGISTER, day.day)
    return found[0] if found else None


async def archived_rows(target, cell, day):
    """All rows of the newest generation of a day."""
    known = await known_day(cell, day)
    manifest = day_reader.newest_manifest(target, DayFolder(day.day, known["archive_id"]))
    files = [file for group in manifest.groups for file in group.files]
    rows = [row for file in files for row in comparable(rows_of(day_reader.read_file(target, file)))]
    return sorted(rows, key=lambda row: row[:4])


async def archive_all(archiver):
    await archiver.once()
    return await archiver.once()


async def has_table(cell, day):
    [row] = await query(cell, "select to_regclass($1) is not null as is_there", day.partition)
    return row["is_there"]


class AwayTarget:
    """A target that does not answer while `is_away`."""

    def __init__(self, target):
        self._target, self.is_away = target, True

    def __getattr__(self, name):
        if self.is_away:
            raise Unavailable("the archive did not answer")
        return getattr(self._target, name)


async def test_a_day_is_archived_once_it_is_closed_and_today_is_not(store, archiver):
    cell = store.cells[0]
    assert await archiver.once() == 0, "the first round notes the transaction that has to be over"
    assert await archiver.once() == 2 * 30
    assert await archiver.once() == 0
    assert await known_day(cell, day_of(cell, 1)) is not None
    assert await known_day(cell, day_of(cell, 0)) is None


async def test_a_day_is_not_closed_right_after_midnight(store, folder_target):
    cell = store.cells[0]
    now = cell.clock.now()
    midnight = day_of(cell, 0).end
    await move_clock(store, seconds=(midnight - now).total_seconds() + 1)
    await make_days(store, 1)
    archiver = DayArchiver(store, folder_target, KEPT, EXPIRY)
    await archive_all(archiver)
    assert await known_day(cell, day_of(cell, 1)) is None
    await move_clock(store, seconds=CLOSING_MARGIN.total_seconds())
    await archive_all(archiver)
    assert (await known_day(cell, day_of(cell, 1)))["state"] == "ARCHIVED"


async def test_a_transaction_that_may_still_write_to_a_day_keeps_it_open(store, archiver):
    cell = store.cells[0]
    async with cell.direct() as writer, writer.transaction():
        await writer.fetchval("select txid_current()")
        await archive_all(archiver)
        assert (await known_day(cell, day_of(cell, 2)))["state"] == "CLOSING"
    await archiver.once()
    assert (await known_day(cell, day_of(cell, 2)))["state"] == "ARCHIVED"


async def test_a_day_waits_for_its_subscriptions_until_its_term_is_over(ctx, store, archiver):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await subscriptions.put(ctx, "warehouse", Subscription(TopicAddress("main", "acme.events"), ("TASK_*",)))
    await Copier(store).once()
    cell = store.cells[0]
    await query(store, "update feed_position set at = $1, moved_at = $1", day_of(cell, 5).begin + timedelta(hours=1))
    await archive_all(archiver)
    states = {ago: (await known_day(cell, day_of(cell, ago)))["state"] for ago in (3, 5, 6, 20)}
    assert states == {3: "CLOSING", 5: "CLOSING", 6: "ARCHIVED", 20: "ARCHIVED"}
    await query(store, "update feed_position set at = $1", day_of(cell, 20).begin)
    assert not await archiver.once()


async def test_two_processes_archive_each_day_once(store, folder_target, past):
    cell = store.cells[0]
    day = day_of(cell, 2)
    await insert_all_kinds(cell, day, some_id(day.begin))
    await DayArchiver(store, folder_target, KEPT, EXPIRY).once()
    async with cell.direct(owner=True) as other:
        assert await archived_days.lock(other)
        await DayArchiver(store, folder_target, KEPT, EXPIRY).once()
        assert (await known_day(cell, day))["state"] == "CLOSING"
        await archived_days.unlock(other)
    await DayArchiver(store, folder_target, KEPT, EXPIRY).once()
    assert (await known_day(cell, day))["generation"] == 1


async def test_a_day_is_dropped_only_after_it_was_archived(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    there = await rows_in(cell, day.partition)
    dropper = DayDropper(store, KEPT, HELD, archiver)
    with capture_logs() as logs:
        await dropper.once()
    assert await has_table(cell, day)
    [line] = [line for line in logs if line["event"] == "days.held_back" and line["cell"] == cell.name]
    assert (line["archive"], line["days"]) == ("not archived yet", 16)
    await archive_all(archiver)
    await dropper.once()
    assert not await has_table(cell, day)
    assert (await known_day(cell, day))["dropped_at"] is not None
    assert await archived_rows(folder_target, cell, day) == there


async def test_a_target_that_is_away_holds_days_back_however_long_and_doctor_says_so(store, folder_target, past):
    """Unlike an unread day, a day that is not archived is never dropped."""
    away = AwayTarget(folder_target)
    archiver = DayArchiver(store, away, KEPT, EXPIRY)
    dropper = DayDropper(store, KEPT, timedelta(0), archiver)
    cell = store.cells[0]
    with capture_logs() as logs:
        for _ in range(3):
            await archiver.once()
            await dropper.once()
    assert await has_table(cell, day_of(cell, 30))
    assert {line["duty"] for line in logs if line["event"] == "duty.cell_skipped"} == {"dayarchiver"}
    async with cell.statement() as tx:
        waiting = await archived_days.unarchived(tx, day_of(cell, 2).day)
    assert waiting.days == 28
    assert waiting.bytes > 0
    away.is_away = False
    await DayArchiver(store, away, KEPT, EXPIRY).once()
    await dropper.once()
    assert not await has_table(cell, day_of(cell, 30))
    async with cell.statement() as tx:
        assert await archived_days.unarchived(tx, day_of(cell, 2).day) == (0, 0)


async def test_late_rows_become_the_next_generation_before_the_day_is_dropped(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 20)
    tenant_id, job_id = some_id(day.begin), some_id(day.begin)
    await insert_all_kinds(cell, day, tenant_id)
    await archive_all(archiver)
    await insert(cell, ended_at=day.begin, tenant_id=tenant_id, job_id=job_id)
    there = await rows_in(cell, day.partition)
    dropper = DayDropper(store, KEPT, HELD, archiver)
    await dropper.once()
    assert await has_table(cell, day)
    await archiver.once()
    await dropper.once()
    assert not await has_table(cell, day)
    assert (await known_day(cell, day))["generation"] == 2
    assert await archived_rows(folder_target, cell, day) == there
    known = await known_day(cell, day)
    names = [one.name for one in folder_target.listing(DayFolder(day.day, known["archive_id"]).prefix)]
    assert [name for name in names if "manifest" in name] == [DayFolder(day.day, known["archive_id"]).manifest(2)]


async def test_a_row_that_comes_when_the_day_is_being_detached_is_archived_too(
    store, archiver, folder_target, monkeypatch
):
    cell = store.cells[0]
    day = day_of(cell, 20)
    tenant_id, job_id = some_id(day.begin), some_id(day.begin)
    await insert_all_kinds(cell, day, tenant_id)
    await archive_all(archiver)
    late, mark = [], dropping.days.mark
    dropper = DayDropper(store, KEPT, HELD, archiver)

    async def mark_late(connection, one):
        if one.partition == day.partition and not late:
            late.append(await insert(cell, ended_at=day.begin, tenant_id=tenant_id, job_id=job_id))
        await mark(connection, one)

    monkeypatch.setattr(dropping.days, "mark", mark_late)
    await dropper.once()
    assert await has_table(cell, day), "detached, not dropped"
    there = await rows_in(cell, day.partition)
    assert late[0] in {row[3] for row in there}
    await archiver.once()
    await dropper.once()
    assert not await has_table(cell, day)
    assert await archived_rows(folder_target, cell, day) == there


async def test_objects_that_the_bucket_has_lost_are_written_again_before_the_drop(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    there = await rows_in(cell, day.partition)
    await archive_all(archiver)
    known = await known_day(cell, day)
    lost = [one.name for one in folder_target.listing(DayFolder(day.day, known["archive_id"]).prefix)]
    folder_target.delete(next(name for name in lost if name.endswith(".parquet")))
    dropper = DayDropper(store, KEPT, HELD, archiver)
    with capture_logs() as logs:
        await dropper.once()
    assert "archive.objects_missing" in {line["event"] for line in logs}
    assert await has_table(cell, day)
    await archiver.once()
    await dropper.once()
    assert not await has_table(cell, day)
    assert await archived_rows(folder_target, cell, day) == there


async def test_rows_that_the_role_cannot_see_are_not_taken_for_none(store, archiver, monkeypatch):
    """Row-level security may hide all rows from a role that was set up wrongly."""
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    await query(cell, f"analyze {day.partition}")

    async def nothing(*_):
        return []

    monkeypatch.setattr(archived_days, "checksum", nothing)
    with capture_logs() as logs:
        await archive_all(archiver)
    assert (await known_day(cell, day))["state"] == "CLOSING"
    assert any("sees no rows" in line.get("reason", "") for line in logs)


@pytest.mark.parametrize("is_dropped", [False, True])
async def test_a_purged_tenant_leaves_every_archived_day(store, archiver, folder_target, monkeypatch, is_dropped):
    monkeypatch.setattr(sorting, "FILE_ROWS", 25)
    cell = store.cells[0]
    day = day_of(cell, 20)
    base = some_id(day.begin)
    gone, *others = [type(base)(int=base.int & ~0xFFFF | n << 6) for n in range(4)]
    for tenant_id in (gone, *others):
        await insert_all_kinds(cell, day, tenant_id, 4)
    there = await rows_in(cell, day.partition)
    await archive_all(archiver)
    if is_dropped:
        await DayDropper(store, KEPT, HELD, archiver).once()
        assert not await has_table(cell, day)
    else:
        await query(cell, f"delete from {day.partition} where tenant_id = $1", gone)

    async def purged_since(tx, _since):
        return {gone: tx.now}

    monkeypatch.setattr("horae.upkeep.archive.tenants.purged_since", purged_since)
    assert await archiver.once() == 1
    assert await archived_rows(folder_target, cell, day) == [row for row in there if row[0] != gone]
    known = await known_day(cell, day)
    assert (known["generation"], known["rows"]) == (2, 3 * 28)
    folder = DayFolder(day.day, known["archive_id"])
    manifest = day_reader.newest_manifest(folder_target, folder)
    named = {manifest.name, *(one.name for one in manifest.objects())}
    assert {one.name for one in folder_target.listing(folder.prefix)} == named, "old files are gone"
    group = manifest.groups[0]
    for row in await archived_rows(folder_target, cell, day):
        [place] = day_reader.places_of_id(folder_target, group, row[3])
        table = day_reader.open_file(folder_target, group.files[place.file]).read_row_group(place.row_group)
        assert row[3] in {one["id"] for one in rows_of(table)}
    assert await archiver.once() == 0
    if not is_dropped:
        await DayDropper(store, KEPT, HELD, archiver).once()
        assert not await has_table(cell, day), "count and checksum are those of the table again"


async def test_a_tenant_that_was_removed_and_purged_is_found_by_the_next_round(ctx, store, archiver, folder_target):
    job = await a_job(ctx)
    cell = store.cell(job.shard)
    day = day_of(cell, 3)
    other = some_id(day.begin)
    await insert_all_kinds(cell, day, other)
    await insert(cell, ended_at=day.begin, tenant_id=ctx.tenant.id, job_id=job.id, shard_id=job.shard)
    await archive_all(archiver)
    await lifecycle.remove(ctx, ctx.tenant.name, confirm=ctx.tenant.name)
    purger = Purger(store)
    while await purger.once():
        pass
    assert await archiver.once() == 1
    assert {row[0] for row in await archived_rows(folder_target, cell, day)} == {other}
    assert await archived_rows(folder_target, cell, day) == await rows_in(cell, day.partition)
    assert await archiver.once() == 0


async def test_a_day_over_its_term_is_deleted_and_forgotten(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    await archive_all(archiver)
    await DayDropper(store, KEPT, HELD, archiver).once()
    folder = DayFolder(day.day, (await known_day(cell, day))["archive_id"])
    await move_clock(store, days=70)
    await archiver.once()
    assert folder_target.listing(folder.prefix)
    await move_clock(store, days=1)
    await archiver.once()
    assert folder_target.listing(folder.prefix) == []
    assert await known_day(cell, day) is None


async def test_a_day_that_is_still_in_postgresql_does_not_leave_the_archive(store, folder_target, past):
    archiver = DayArchiver(store, folder_target, KEPT, timedelta(days=1))
    cell = store.cells[0]
    await archive_all(archiver)
    await archiver.once()
    assert await known_day(cell, day_of(cell, 20)) is not None


async def test_a_day_that_is_half_detached_is_not_read_as_an_empty_one(store, archiver, folder_target, monkeypatch):
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    there = await rows_in(cell, day.partition)
    await archive_all(archiver)
    dropper = DayDropper(store, KEPT, HELD, archiver)
    monkeypatch.setattr(dropping, "DETACH_TIMEOUT_S", 0.3)
    async with cell.direct() as reader, reader.transaction():
        await reader.fetch(f"select from {day.partition} limit 1")
        await dropper.once()
        await query(cell, "update archived_day set state = 'CLOSING' where day = $1", day.day)
        await archiver.once()
        assert await archived_rows(folder_target, cell, day) == there
    for _ in range(2):
        await dropper.once()
        await archiver.once()
    await dropper.once()
    assert not await has_table(cell, day)
    assert await archived_rows(folder_target, cell, day) == there


async def test_a_day_that_a_rule_of_the_bucket_has_deleted_stops_nobody(store, archiver, folder_target, monkeypatch):
    cell = store.cells[0]
    day = day_of(cell, 20)
    gone = some_id(day.begin)
    await insert_all_kinds(cell, day, gone)
    await archive_all(archiver)
    await DayDropper(store, KEPT, HELD, archiver).once()
    folder = DayFolder(day.day, (await known_day(cell, day))["archive_id"])
    for one in folder_target.listing(folder.prefix):
        folder_target.delete(one.name)

    async def purged_since(tx, _since):
        return {gone: tx.now}

    monkeypatch.setattr("horae.upkeep.archive.tenants.purged_since", purged_since)
    with capture_logs() as logs:
        await archiver.once()
    assert "duty.cell_skipped" not in {line["event"] for line in logs}
