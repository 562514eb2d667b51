"""Seconds and bytes per million archived rows, and every one of them compared."""

import hashlib
import resource
import time

import duckdb
import pytest

from horae.archive.columns import COLUMNS, MOMENT
from tests.archive.history import day_of, fill, some_id
from tests.archive.test_format import manifest_of


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
