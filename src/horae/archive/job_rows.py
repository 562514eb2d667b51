"""The rows of one archived day by job, for audits of fires and certificates. A file that was changed is noticed."""

import io
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from horae.archive.columns import rows_of
from horae.archive.data_files import open_parquet
from horae.archive.day_reader import files_of_tenant
from horae.archive.layout import DayFolder, sha256_of
from horae.archive.manifests import DataFile, Manifest, decode
from horae.archive.targets import ArchiveTarget
from horae.domain.errors import NotFound

AUDITED: Final = (
    *("tenant_id", "job_id", "id", "fire_time", "due_at", "ended_at", "range_to", "range_count", "job_version", "lane"),
    *("retry_count", "state", "reason", "idem_key", "business_key", "generation", "trigger_delay_ms", "held_ms"),
)
"""The columns that audits and certificates read."""
DIGESTED_TIMES: Final = ("fire_time", "due_at", "ended_at", "range_to")
DIGESTED_VALUES: Final = ("range_count", "job_version", "lane", "retry_count", "state", "reason")
DIGEST_DIGITS: Final = 15
"""Hexadecimal digits of each row's SHA-256 that are summed up, as `audit/archived_fires/digests.sql` does."""


class DayRows(NamedTuple):
    """The rows of a day. `changed_files` names the files whose content is not what the manifest says.

    `jobs` has for each job where its rows are: in which table, from which row on, and how many. `doubtful` are the jobs
    with rows in a changed file. `is_whole` is False if a file cannot be read at all.
    """

    jobs: dict[UUID, list[tuple[pa.Table, int, int]]]
    changed_files: list[str]
    doubtful: set[UUID]
    is_whole: bool

    def rows(self, job_id: UUID) -> Iterator[dict[str, Any]]:
        """The rows of a job as plain values."""
        for table, first, many in self.jobs.get(job_id, ()):
            yield from rows_of(table.slice(first, many))

    def digests(self) -> dict[UUID, tuple[int, int]]:
        """For each job the number of its rows, and the sum of their digests."""
        found: dict[UUID, tuple[int, int]] = {}
        tables = {id(table): table for places in self.jobs.values() for table, _, _ in places}
        values = {key: _row_digests(table) for key, table in tables.items()}
        for job_id, places in self.jobs.items():
            parts = [values[id(table)][first : first + many] for table, first, many in places]
            found[job_id] = (sum(map(len, parts)), sum(map(sum, parts)))
        return found


def read_day(
    target: ArchiveTarget,
    folder: DayFolder,
    generation: int,
    expected: tuple[int, int],
    *,
    tenant_id: UUID | None,
    fires_before: datetime | None,
) -> DayRows:
    """Read the rows of a day, of one tenant or of all. `expected`: its rows and bytes as the register of days says.

    `fires_before`: files without a fire before that time are left out. A fire may end days after its time.
    """
    found = DayRows({}, [], set(), is_whole=True)
    name = folder.manifest(generation)
    try:
        manifest = decode(target.get(name))
    except (NotFound, ValueError):
        return found._replace(changed_files=[name], is_whole=False)
    is_known = (manifest.rows, manifest.bytes) == expected
    if not is_known:
        found.changed_files.append(name)
    for file in _files(manifest, tenant_id):
        if fires_before is not None and file.first_fire >= fires_before:
            continue
        found = _add_file(target, file, found, trusted=is_known)
    return found


def _files(manifest: Manifest, tenant_id: UUID | None) -> list[DataFile]:
    if tenant_id is not None:
        return files_of_tenant(manifest, tenant_id)
    return [file for group in manifest.groups for file in group.files]


def _add_file(target: ArchiveTarget, file: DataFile, found: DayRows, *, trusted: bool) -> DayRows:
    """Add the rows of a file. They are sorted by tenant and job, so those of a job follow each other."""
    try:
        content = target.get(file.name)
        table = open_parquet(io.BytesIO(content)).read(columns=list(AUDITED)).combine_chunks()
    except (NotFound, pa.ArrowInvalid, OSError):
        found.changed_files.append(file.name)
        return found._replace(is_whole=False)
    is_changed = sha256_of(content) != file.sha256
    if is_changed:
        found.changed_files.append(file.name)
    first = 0
    runs = pc.run_end_encode(table["job_id"].combine_chunks().cast(pa.binary()))
    for part in runs.chunks if isinstance(runs, pa.ChunkedArray) else [runs]:
        for raw, end in zip(part.values.to_pylist(), part.run_ends.to_pylist(), strict=True):
            job_id = UUID(bytes=raw)
            found.jobs.setdefault(job_id, []).append((table, first, end - first))
            if is_changed or not trusted:
                found.doubtful.add(job_id)
            first = end
    return found


def _row_digests(table: pa.Table) -> list[int]:
    times = [pc.fill_null(table[name].cast(pa.int64()).cast(pa.string()), "") for name in DIGESTED_TIMES]
    values = [pc.fill_null(table[name].cast(pa.string()), "") for name in DIGESTED_VALUES]
    texts = pc.binary_join_element_wise(*times, *values, "|").to_pylist()
    return [
        int(sha256(f"{raw.hex()}|{text}".encode()).hexdigest()[:DIGEST_DIGITS], 16)
        for raw, text in zip(table["id"].to_pylist(), texts, strict=True)
    ]
