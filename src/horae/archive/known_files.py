"""What a process knows of archived files, for all its searches: small objects, descriptions of groups, footers."""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Final, Generic, TypeVar
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horae.archive.columns import SCHEMA
from horae.archive.counted_target import SMALL_OBJECT_BYTES, CountedTarget, ObjectCache
from horae.archive.data_files import open_parquet
from horae.archive.day_reader import ObjectReader
from horae.archive.index_files import RowPlace
from horae.archive.layout import group_of
from horae.archive.manifests import SCHEMA_VERSION, DataFile, GroupFiles, IndexFile, decode
from horae.archive.row_queries import ColdDay
from horae.domain.errors import NewerRelease

Key = TypeVar("Key")
Value = TypeVar("Value")
MOST_KNOWN_GROUPS: Final = 20_000
"""Descriptions of the files of one group on one day: about 1 KB each."""
MOST_KNOWN_FOOTERS: Final = 500
"""Footers of files and indexes: some KB each, for the largest files 100 KB."""
SMALL_INDEX_BYTES: Final = 256 << 10
"""An index up to this size is read whole."""
LISTED: Final = [name for name in SCHEMA.names if name not in {"payload", "attempts", "held_ms", "node"}]
"""The columns of a row in a list."""
WHOLE: Final = list(SCHEMA.names)
INDEX_COLUMNS: Final = {"hash": 0, "file": 1, "row_group": 2}
COLUMN: Final = {name: number for number, name in enumerate(SCHEMA.names)}


class NewestValues(Generic[Key, Value]):
    """The values that were asked for last. Several threads may use it."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """A value, if it is here."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value, and forget those that were not asked for the longest."""
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


class KnownFiles:
    """One per process. None of it ever changes: a later generation of a day has other names."""

    def __init__(self) -> None:
        self.objects = ObjectCache()
        self._groups: NewestValues[tuple[str, int], GroupFiles] = NewestValues(MOST_KNOWN_GROUPS)
        self._footers: NewestValues[str, pq.FileMetaData] = NewestValues(MOST_KNOWN_FOOTERS)

    def group(self, target: CountedTarget, day: ColdDay, tenant_id: UUID) -> GroupFiles | None:
        """The files of a day with the rows of a tenant and of others of its group; None where there are none."""
        key = (day.manifest, group_of(tenant_id))
        found = self._groups.get(key)
        if found is None:
            manifest = decode(target.get(day.manifest))
            if manifest.schema_version > SCHEMA_VERSION:
                raise NewerRelease(f"{day.manifest} was written by a newer release")
            found = manifest.of_group(key[1]) or GroupFiles(key[1], 0, {}, [], [])
            self._groups.put(key, found)
        return found if found.files else None

    def footer(self, target: CountedTarget, file: DataFile | IndexFile) -> pq.FileMetaData:
        """The footer of a file: where its columns are, and between which values."""
        found = self._footers.get(file.name)
        if found is None:
            _hold_small(target, file)
            found = open_parquet(ObjectReader(target, file.name, file.bytes)).metadata
            self._footers.put(file.name, found)
        return found

    def places(self, target: CountedTarget, group: GroupFiles, sought: int) -> Iterator[RowPlace]:
        """Where rows with a hash may be, by the indexes of a group."""
        for index in group.indexes:
            footer = self.footer(target, index)
            for number in range(footer.num_row_groups):
                known = footer.row_group(number).column(0).statistics
                if known.min <= sought <= known.max:
                    found = self.read(target, index, number, list(INDEX_COLUMNS))
                    hits = found.filter(pc.equal(found["hash"], pa.scalar(sought, pa.uint32())))
                    yield from (RowPlace(row["file"], row["row_group"]) for row in hits.to_pylist())

    def read(self, target: CountedTarget, file: DataFile | IndexFile, row_group: int, columns: list[str]) -> pa.Table:
        """Some columns of a row group. They lie near each other, and are read in one request.

        A column that was added after the file was written is left out.
        """
        footer = self.footer(target, file)
        numbers = COLUMN if isinstance(file, DataFile) else INDEX_COLUMNS
        columns = [name for name in columns if numbers[name] < footer.num_columns]
        chunks = [footer.row_group(row_group).column(numbers[name]) for name in columns]
        start = min(_start(chunk) for chunk in chunks)
        end = max(_start(chunk) + chunk.total_compressed_size for chunk in chunks)
        _hold_small(target, file)
        with target.holding(file.name, start, end - start):
            source = ObjectReader(target, file.name, file.bytes)
            opened = pq.ParquetFile(source, metadata=footer, arrow_extensions_enabled=False, pre_buffer=False)
            return opened.read_row_group(row_group, columns=columns, use_threads=False)


def _hold_small(target: CountedTarget, file: DataFile | IndexFile) -> None:
    """Read a small file whole. Of an index one row group is needed, of a data file most columns of several."""
    target.hold_small(file.name, file.bytes, SMALL_OBJECT_BYTES if isinstance(file, DataFile) else SMALL_INDEX_BYTES)


def _start(chunk: pq.ColumnChunkMetaData) -> int:
    return int(chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset)
