"""Millions of archived rows, written by the archive's own writer from made-up values: no PostgreSQL had them."""

import os
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.compute as pc

from horae.archive.columns import ID, MOMENT, SCHEMA, ids_from
from horae.archive.day_writer import GroupWriter, publish
from horae.archive.layout import DayFolder, group_of
from horae.archive.manifests import Manifest, add_checksums, manifest_of
from horae.archive.sorting import BY_KEY, FILE_ROWS

DAY_S: Final = 86_400


def rows_of_day(day: date, tenant_id: UUID, jobs: list[UUID], many: int, keys: int) -> pa.Table:
    """Ended instances of one tenant on one day, sorted. `keys`: the tasks of each job have so many business keys."""
    numbers = pa.array(range(many), pa.int64())
    job_ids = pa.array([one.bytes for one in jobs], ID)
    begin = int(datetime(day.year, day.month, day.day).timestamp()) * 1_000_000
    fires = pc.add(pc.multiply(numbers, DAY_S * 1_000_000 // many), begin)
    millis = pc.divide(fires, 1000).to_pylist()
    noise = os.urandom(10 * many)
    made = b"".join(
        at.to_bytes(6) + b"\x70" + noise[10 * n + 1 : 10 * n + 2] + b"\x80" + noise[10 * n + 3 : 10 * n + 10]
        for n, at in enumerate(millis)
    )
    columns = {
        "tenant_id": pa.array([tenant_id.bytes], ID).take(pa.array([0] * many)),
        "job_id": job_ids.take(pa.array([n % len(jobs) for n in range(many)])),
        "fire_time": fires.cast(MOMENT),
        "id": ids_from(made),
        "ended_at": pc.add(fires, 700_000).cast(MOMENT),
        "due_at": fires.cast(MOMENT),
        "business_key": pa.array([f"order-{(n * 7919 + day.toordinal() * 104_729) % keys}" for n in range(many)]),
        "state": pa.array(["DEAD" if n % 1000 == 0 else "SUCCESS" for n in range(many)]),
        "idem_key": pa.array([f"k:{day}:{n}" for n in range(many)]),
    }
    whole = {"job_version", "attempt", "retry_count", "held_ms", "shard_id", "priority", "lane", "generation"}
    for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True):
        if name not in columns:
            columns[name] = pa.array([1], kind).take(pa.array([0] * many)) if name in whole else pa.nulls(many, kind)
    table = pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)
    return table.take(pc.sort_indices(table, BY_KEY))


def write_day(target, day: date, tenants: dict[UUID, tuple[list[UUID], int]], keys: int) -> Manifest:
    """Write a day of several tenants, each with its jobs and its number of rows. No two may be of one group."""
    folder, groups, checksums = DayFolder(day, uuid4()), [], []
    for tenant_id, (jobs, many) in tenants.items():
        writer = GroupWriter(target, folder, group_of(tenant_id))
        table = rows_of_day(day, tenant_id, jobs, many, keys)
        for start in range(0, many, FILE_ROWS):
            writer.add(table.slice(start, FILE_ROWS))
        groups.append(writer.finish())
        checksums.append(writer.checksum)
    manifest = manifest_of(folder, 1, add_checksums(checksums), groups)
    publish(target, manifest)
    return manifest


async def register(cell, manifests: list[Manifest]) -> None:
    """Record days as archived and dropped."""
    async with cell.direct(owner=True) as connection:
        for one in manifests:
            await connection.execute(
                """insert into archived_day (archived_at, dropped_at, cleared_until, closing_xid, rows, bytes,
                                             generation, day, archive_id, state)
                   values (now(), now(), now(), 1, $1, $2, 1, $3, $4, 'ARCHIVED')""",
                one.rows,
                one.bytes,
                one.day,
                one.archive_id,
            )


def days_before(last: date, many: int) -> list[date]:
    """So many days, the newest first."""
    return [last - timedelta(days=n) for n in range(many)]
