"""Reads archived days: which there are, one row group by an index, whole files.

A file may be deleted between the reading of its manifest and its own: a later generation has replaced it, or the day is
over its term. Then `NotFound` is raised, and the caller reads the manifest again.
"""

import io
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from horae.archive import index_files
from horae.archive.data_files import open_parquet
from horae.archive.index_files import RowPlace
from horae.archive.layout import DayFolder, folder_in, generation_in, group_of, prefix_of
from horae.archive.manifests import SCHEMA_VERSION, DataFile, GroupFiles, IndexFile, Manifest, decode
from horae.archive.targets import ArchiveTarget, ObjectSource
from horae.domain.errors import NewerRelease


class ObjectReader(io.RawIOBase):
    """An object as a file that is read part by part. `bytes_read` says what that has cost."""

    def __init__(self, target: ObjectSource, name: str, size: int) -> None:
        self._target, self._name, self._size = target, name, size
        self._at = 0
        self.bytes_read = 0
        self.requests = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read from the position on."""
        left = max(0, self._size - self._at)
        length = left if size is None or size < 0 else min(size, left)
        if not length:
            return b""
        found = self._target.get_range(self._name, self._at, length)
        self._at += len(found)
        self.bytes_read += len(found)
        self.requests += 1
        return found


def folders_of(target: ArchiveTarget, day: date) -> set[DayFolder]:
    """The folders of a day, of all cells, that have a manifest."""
    found = target.listing(prefix_of(day))
    return {folder_in(one.name) for one in found if generation_in(one.name) is not None}


class FolderState(NamedTuple):
    """What a folder has: the newest manifest that can be read, and the number of the next one."""

    newest: Manifest | None
    next_generation: int


def newest_manifest(target: ArchiveTarget, folder: DayFolder) -> Manifest | None:
    """The manifest with the greatest number; None where the folder has none."""
    return state_of(target, folder).newest


def state_of(target: ArchiveTarget, folder: DayFolder) -> FolderState:
    """What a folder has. A manifest that was stored in part is passed over: the one before it has all its files."""
    names = [one.name for one in target.listing(folder.prefix)]
    numbers = sorted(number for name in names if (number := generation_in(name)) is not None)
    readable = (found for number in reversed(numbers) if (found := _manifest(target, folder.manifest(number))))
    return FolderState(next(readable, None), max(numbers, default=0) + 1)


def _manifest(target: ArchiveTarget, name: str) -> Manifest | None:
    """One manifest; None where it was stored in part. Raises `NewerRelease` where this release cannot read it."""
    try:
        manifest = decode(target.get(name))
    except msgspec.DecodeError:
        return None
    if manifest.schema_version > SCHEMA_VERSION:
        raise NewerRelease(f"{name} was written by a newer release")
    return manifest


def missing_objects(target: ArchiveTarget, manifest: Manifest) -> list[str]:
    """The names of files that the target does not have, or has in another size."""
    sizes = {one.name: one.bytes for one in target.listing(manifest.folder.prefix)}
    wanted = {one.name: one.bytes for one in manifest.objects()}
    return sorted(name for name, size in wanted.items() if sizes.get(name) != size)


def open_file(target: ArchiveTarget, file: DataFile | IndexFile) -> pq.ParquetFile:
    """Open a data file to read parts of it."""
    return open_parquet(ObjectReader(target, file.name, file.bytes))


def read_file(target: ArchiveTarget, file: DataFile, columns: Sequence[str] | None = None) -> pa.Table:
    """Read all rows of a data file."""
    return open_parquet(io.BytesIO(target.get(file.name))).read(columns=columns)


def places_of_id(target: ObjectSource, group: GroupFiles, instance_id: UUID) -> Iterator[RowPlace]:
    """Where an instance may be. Few places are wrong, none is missing."""
    return _lookup(target, group, index_files.hash_of_id(instance_id))


def places_of_key(target: ObjectSource, group: GroupFiles, job_id: UUID, business_key: str) -> Iterator[RowPlace]:
    """Where the instances of a business key may be."""
    return _lookup(target, group, index_files.hash_of_key(job_id, business_key))


def _lookup(target: ObjectSource, group: GroupFiles, sought: int) -> Iterator[RowPlace]:
    for index in group.indexes:
        yield from index_files.lookup(ObjectReader(target, index.name, index.bytes), sought)


def files_of_tenant(manifest: Manifest, tenant_id: UUID) -> list[DataFile]:
    """The files that may have rows of a tenant."""
    group = manifest.of_group(group_of(tenant_id))
    files = [] if group is None else group.files
    return [file for file in files if file.first_tenant <= tenant_id <= file.last_tenant]
