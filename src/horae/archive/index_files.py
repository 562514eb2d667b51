"""Indexes: which row group of which file has an instance, or the instances of a business key.

An index has a 32-bit hash of each instance id, and of each job with business key, with the number of the file in its
group and of the row group in that file. It is sorted by hash, in row groups with statistics, so that a lookup reads one
row group. A hash may belong to several rows: a reader compares the rows that it finds.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horae.archive.columns import words_of
from horae.archive.data_files import ROW_GROUP_ROWS, open_parquet
from horae.archive.layout import DayFolder, sha256_of
from horae.archive.manifests import IndexFile
from horae.archive.targets import ArchiveTarget, put_verified

INDEX_ROW_GROUP_ROWS: Final = 65_536
FILES_PER_INDEX: Final = 8
"""Data files that one index covers. A group with more files has several indexes, each made in bounded memory."""
WORD: Final = 1 << 32
INDEXED: Final = ("id", "job_id", "business_key")
"""The columns that an index is made from."""


class RowPlace(NamedTuple):
    """Where a row may be: the number of a file in its group, and of a row group in that file."""

    file: int
    row_group: int


def hash_of_id(instance_id: UUID) -> int:
    """The hash of an instance: the last 32 bits of its id, which are random."""
    return instance_id.int % WORD


def hash_of_key(job_id: UUID, business_key: str) -> int:
    """The hash of a business key of a job."""
    return zlib.crc32(business_key.encode(), zlib.crc32(job_id.bytes))


def entries_of(table: pa.Table, file: int) -> pa.Array:
    """The entries of one data file: hash, file and row group in one number, in this order of significance."""
    parts = []
    for row_group, start in enumerate(range(0, table.num_rows, ROW_GROUP_ROWS)):
        rows = table.slice(start, ROW_GROUP_ROWS)
        hashes = [pa.array(words_of(rows["id"], 32)[3::4], pa.int32()).view(pa.uint32()), _key_hashes(rows)]
        place = (file << 12) + row_group
        parts += [pc.add(pc.multiply(one.cast(pa.int64()), 1 << 24), place) for one in hashes]
    return pa.concat_arrays(parts)


def _key_hashes(rows: pa.Table) -> pa.Array:
    keyed = rows.filter(pc.is_valid(rows["business_key"]))
    jobs = keyed["job_id"].combine_chunks().dictionary_encode()
    jobs = jobs.combine_chunks() if isinstance(jobs, pa.ChunkedArray) else jobs
    seeds = [zlib.crc32(raw) for raw in jobs.dictionary.to_pylist()]
    pairs = zip(jobs.indices.to_pylist(), keyed["business_key"].to_pylist(), strict=True)
    return pa.array([zlib.crc32(key.encode(), seeds[job]) for job, key in pairs], pa.uint32())


def encode(entries: pa.Array) -> bytes:
    """The bytes of an index with these entries, each of them once."""
    ordered = pc.unique(entries).sort()
    places = pc.bit_wise_and(ordered, (1 << 24) - 1)
    table = pa.table(
        {
            "hash": pc.shift_right(ordered, 24).cast(pa.uint32()),
            "file": pc.shift_right(places, 12).cast(pa.int16()),
            "row_group": pc.bit_wise_and(places, (1 << 12) - 1).cast(pa.int16()),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=INDEX_ROW_GROUP_ROWS,
        compression="zstd",
        use_dictionary=["file", "row_group"],
        column_encoding={"hash": "DELTA_BINARY_PACKED"},
        store_schema=False,
    )
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def write(
    target: ArchiveTarget, folder: DayFolder, group: int, first_file: int, entries: Iterable[pa.Array]
) -> IndexFile:
    """Write an index of consecutive data files of one group."""
    whole = pa.concat_arrays(list(entries))
    content = encode(whole)
    sha256 = sha256_of(content)
    name = folder.index_file(group, sha256)
    put_verified(target, name, content)
    return IndexFile(name, len(whole), len(content), sha256, first_file)


def lookup(source: Any, sought: int) -> Iterator[RowPlace]:
    """The places that an index has for a hash. `source`: the open object."""
    index = open_parquet(source)
    for number in range(index.metadata.num_row_groups):
        known = index.metadata.row_group(number).column(0).statistics
        if known.min <= sought <= known.max:
            found = index.read_row_group(number)
            hits = found.filter(pc.equal(found["hash"], pa.scalar(sought, pa.uint32())))
            yield from (RowPlace(row["file"], row["row_group"]) for row in hits.to_pylist())
