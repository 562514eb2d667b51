"""What is archived equals what was there, row for row, as an independent reader sees it."""

from datetime import timedelta
from uuid import UUID

import duckdb
import pytest

from horae.archive import day_reader, sorting
from horae.archive.columns import COLUMNS, MOMENT, rows_of
from horae.archive.layout import DayFolder, folder_in, group_of
from horae.upkeep.archive import DayArchiver
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import comparable, day_of, fill, insert_all_kinds, rows_in, some_id
from tests.steps import query


async def archive_all(archiver):
    """The first round notes the transaction after which days are closed, the second archives them."""
    await archiver.once()
    return await archiver.once()


async def manifest_of(target, cell, day):
    [row] = await query(cell, "select archive_id from archived_day where day = $1", day.day)
    return day_reader.newest_manifest(target, DayFolder(day.day, row["archive_id"]))


def read_by_duckdb(folder, files):
    """All rows of some files, ids as UUIDs, times as microseconds."""
    shown = [f"epoch_us({name})" if kind == MOMENT else name for name, kind in COLUMNS.items()]
    paths = [str(folder / file.name) for file in files]
    return duckdb.sql(f"select {', '.join(shown)} from read_parquet({paths})").fetchall()


def in_micros(rows, keys):
    """Rows of PostgreSQL as DuckDB shows archived ones; `keys`: the stored idempotency keys by id."""
    moments = [name for name, kind in COLUMNS.items() if kind == MOMENT]
    shown = []
    for row in rows:
        values = dict(zip(COLUMNS, row, strict=True))
        for name in moments:
            at = values[name]
            values[name] = None if at is None else round(at.timestamp() * 1_000_000)
        values["idem_key"] = keys[values["id"]]
        shown.append(tuple(values.values()))
    return shown


@pytest.mark.parametrize("file_rows", [1_000_000, 50])
async def test_every_kind_of_row_comes_back_equal(store, settings, target, past, tmp_path, monkeypatch, file_rows):
    """Also when runs and files are so small that a group has many of them."""
    monkeypatch.setattr(sorting, "FILE_ROWS", file_rows)
    monkeypatch.setattr(sorting, "RUN_ROWS", file_rows)
    cell = store.cells[0]
    day = day_of(cell, 3)
    tenant_ids = [some_id(day.begin) for _ in range(5)]
    for tenant_id in tenant_ids:
        await insert_all_kinds(cell, day, tenant_id, 6)
        await fill(cell, day, tenant_id, 120, 7)
    await archive_all(DayArchiver(store, target, KEPT, EXPIRY))
    manifest = await manifest_of(target, cell, day)
    there = await rows_in(cell, day.partition)
    archived = [
        row
        for group in manifest.groups
        for file in group.files
        for row in comparable(rows_of(day_reader.read_file(target, file)))
    ]
    assert sorted(archived, key=lambda row: row[:4]) == there
    assert (manifest.rows, manifest.generation) == (len(there), 1)
    for group in manifest.groups:
        tables = [day_reader.read_file(target, file) for file in group.files]
        keys = [row[:4] for table in tables for row in comparable(rows_of(table))]
        assert keys == sorted(keys), "sorted over all files of a group"
        assert {group_of(row[0]) for row in keys} == {group.group}
        assert (len(group.files) > 1) == (file_rows == 50)
        assert sum(group.created.values()) == group.rows == len(keys)
        assert len(group.created) == 2, "dead ones were made 40 days before"


async def test_an_independent_reader_sees_the_same_rows(store, archiver, folder_target, tmp_path):
    cell = store.cells[1]
    day = day_of(cell, 2)
    for _ in range(3):
        await insert_all_kinds(cell, day, some_id(day.begin))
    await archive_all(archiver)
    manifest = await manifest_of(folder_target, cell, day)
    files = [file for group in manifest.groups for file in group.files]
    found = read_by_duckdb(tmp_path / "archive", files)
    there = await query(
        cell,
        f"select {', '.join(COLUMNS).replace('payload', 'payload::text').replace('attempts', 'attempts::text')} "
        f"from {day.partition}",
    )
    keys = {row[3]: row[list(COLUMNS).index("idem_key")] for row in found}
    assert isinstance(found[0][3], UUID)
    assert sorted(found) == sorted(in_micros([tuple(row) for row in there], keys))
    assert sum(1 for key in keys.values() if key is None) == 4 * 3 * 3, "fires of whole seconds, and tasks"


async def test_one_instance_and_one_business_key_are_found_by_the_index(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 2)
    tenant_ids = [some_id(day.begin) for _ in range(20)]
    for tenant_id in tenant_ids:
        await insert_all_kinds(cell, day, tenant_id)
    await archive_all(archiver)
    manifest = await manifest_of(folder_target, cell, day)
    for row in await rows_in(cell, day.partition):
        values = dict(zip(COLUMNS, row, strict=True))
        group = manifest.of_group(group_of(values["tenant_id"]))
        places = list(day_reader.places_of_id(folder_target, group, values["id"]))
        assert len(places) == 1
        file = group.files[places[0].file]
        assert file in day_reader.files_of_tenant(manifest, values["tenant_id"])
        table = day_reader.open_file(folder_target, file).read_row_group(places[0].row_group)
        assert values["id"] in {one["id"] for one in rows_of(table)}
        if values["business_key"] is not None:
            sought = (values["job_id"], values["business_key"])
            assert places[0] in day_reader.places_of_key(folder_target, group, *sought)
    unknown = some_id(day.begin)
    assert list(day_reader.places_of_id(folder_target, manifest.groups[0], unknown)) == []


async def test_the_folders_of_a_day_are_those_of_its_cells_and_say_nothing_of_them(store, archiver, folder_target):
    for cell in store.cells:
        await insert_all_kinds(cell, day_of(cell, 2), some_id(cell.clock.now()))
    await archive_all(archiver)
    day = day_of(store.cells[0], 2).day
    found = day_reader.folders_of(folder_target, day)
    assert len(found) == 2
    names = [one.name for one in folder_target.listing(f"days/{day}/")]
    assert {folder_in(name) for name in names} == found
    assert not [name for name in names for cell in store.cells if cell.name in name]


async def test_a_plain_cron_fire_takes_few_bytes(store, archiver, folder_target):
    cell = store.cells[0]
    day = day_of(cell, 2)
    await fill(cell, day, some_id(day.begin), 50_000)
    await archive_all(archiver)
    manifest = await manifest_of(folder_target, cell, day)
    assert manifest.rows == 50_000
    assert manifest.bytes / manifest.rows <= 60


async def test_a_page_of_pages_is_read_by_its_place_and_not_by_a_walk_over_the_day(store, past):
    cell = store.cells[0]
    day = day_of(cell, 2)
    statement = f"""
        explain select id from instance_history where ended_at >= '{day.begin}' and ended_at < '{day.end}'
        and ctid >= '(4096,0)' and ctid < '(8192,0)'"""
    async with cell.direct(owner=True) as connection:
        plan = "\n".join(row[0] for row in await connection.fetch(statement))
    assert f"Tid Range Scan on {day.partition}" in plan
    assert (day.end - day.begin) == timedelta(days=1)
