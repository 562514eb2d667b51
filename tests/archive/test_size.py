"""Seconds and bytes per million archived rows, and every one of them compared."""

import hashlib
import resource
import time
from datetime import timedelta

import duckdb
import pytest

from horae.archive.columns import COLUMNS, MOMENT
from horae.store.databases import days as day_rows
from horae.upkeep.archive import DayArchiver
from horae.upkeep.days import DayDropper
from tests.archive.conftest import EXPIRY
from tests.archive.history import day_of, fill, some_id
from tests.archive.test_format import manifest_of
from tests.steps import query


@pytest.mark.parametrize(
    "rows", [30_000, pytest.param(10_000_000, marks=(pytest.mark.long, pytest.mark.timeout(3600)))]
)
async def test_all_rows_of_a_day_are_equal_and_small(store, archiver, folder_target, tmp_path, rows, record_property):
    cell = store.cells[0]
    day = day_of(cell, 2)
    tenants = 100 if rows > 100_000 else 10
    for _ in range(tenants):
        await fill(cell, day, some_id(day.begin), rows // tenants)
    await archiver.once()
    began = time.monotonic()
    await archiver.once()
    took = time.monotonic() - began
    manifest = await manifest_of(folder_target, cell, day)
    assert manifest.rows == rows
    assert manifest.bytes / manifest.rows <= 60
    record_property("seconds_per_million", round(took / rows * 1e6, 1))
    record_property("bytes_per_million", round(manifest.bytes / rows * 1e6))
    record_property("most_memory_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    assert await digest_there(cell, day) == digest_archived(tmp_path / "archive", manifest)


@pytest.mark.parametrize("rows", [3_000, pytest.param(3_000_000, marks=(pytest.mark.long, pytest.mark.timeout(3600)))])
async def test_three_days_are_archived_and_dropped(store, folder_target, past, rows, monkeypatch, record_property):
    cell, kept = store.cells[0], timedelta(days=3)
    archiver = DayArchiver(store, folder_target, kept, EXPIRY)
    of_three = [day_of(cell, ago) for ago in (6, 5, 4)]
    for day in of_three:
        await fill(cell, day, some_id(day.begin), rows)
    await archiver.once()
    began = time.monotonic()
    await archiver.once()
    took_s, drops = time.monotonic() - began, []
    drop = day_rows.drop

    async def timed(connection, day):
        began = time.monotonic()
        await drop(connection, day)
        drops.append(time.monotonic() - began)

    monkeypatch.setattr(day_rows, "drop", timed)
    await DayDropper(store, kept, timedelta(days=7), archiver).once()
    for day in of_three:
        assert (await manifest_of(folder_target, cell, day)).rows == rows
        [row] = await query(cell, "select to_regclass($1) is null as is_gone", day.partition)
        assert row["is_gone"]
    record_property("archive_seconds_per_million", round(took_s / (3 * rows) * 1e6, 1))
    record_property("longest_drop_s", round(max(drops), 3))


async def digest_there(cell, day) -> str:
    """A digest over all rows, in the order of their ids."""
    digest, last = hashlib.sha256(), None
    shown = ", ".join(
        f"round(extract(epoch from {name}) * 1000000)::bigint" if kind == MOMENT else f"{name}::text"
        for name, kind in COLUMNS.items()
        if name != "idem_key"
    )
    async with cell.direct() as connection, connection.transaction():
        async for row in connection.cursor(f"select {shown} from {day.partition} order by id", prefetch=5000):
            digest.update(repr(tuple(None if one is None else str(one) for one in row)).encode())
            last = row
    assert last is not None
    return digest.hexdigest()


def digest_archived(folder, manifest) -> str:
    digest = hashlib.sha256()
    paths = [str(folder / file.name) for group in manifest.groups for file in group.files]
    shown = ", ".join(
        f"epoch_us({name})" if kind == MOMENT else f"{name}::varchar"
        for name, kind in COLUMNS.items()
        if name != "idem_key"
    )
    found = duckdb.connect().execute(f"select {shown} from read_parquet({paths}) order by id")
    while rows := found.fetchmany(5000):
        for row in rows:
            digest.update(repr(tuple(None if one is None else str(one) for one in row)).encode())
    return digest.hexdigest()
