"""Writes a day: rows from PostgreSQL become files, indexes and a manifest, each read back after it was written."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pyarrow as pa

from horae.archive import data_files, index_files
from horae.archive.columns import checksum_of, creation_days_of
from horae.archive.index_files import FILES_PER_INDEX
from horae.archive.layout import DayFolder
from horae.archive.manifests import (
    Checksum,
    DataFile,
    GroupFiles,
    IndexFile,
    Manifest,
    add_checksums,
    encode,
    manifest_of,
)
from horae.archive.sorting import RowSorter
from horae.archive.targets import ArchiveTarget, create_verified
from horae.domain.errors import Conflict


class GroupWriter:
    """Writes the files of one group, then their indexes."""

    def __init__(self, target: ArchiveTarget, folder: DayFolder, group: int) -> None:
        self._target, self._folder, self._group = target, folder, group
        self._entries: list[pa.Array] = []
        self._indexes: list[IndexFile] = []
        self._files: list[DataFile] = []
        self._created: dict[date, int] = {}
        self.checksum: Checksum = {}

    def add(self, table: pa.Table, written: DataFile | None = None) -> None:
        """Write a file with these rows, which are sorted and follow those of the last file.

        `written`: the file has been written before; then the rows need only the columns of an index, id and state.
        """
        number = len(self._files)
        self._files.append(written or data_files.write(self._target, self._folder, self._group, table))
        self.checksum = add_checksums([self.checksum, checksum_of(table)])
        for created, rows in creation_days_of(table).items():
            self._created[created] = self._created.get(created, 0) + rows
        self._entries.append(index_files.entries_of(table, number))
        if len(self._entries) == FILES_PER_INDEX:
            self._write_index()

    def finish(self) -> GroupFiles:
        """Write the last index, and return what the manifest says of this group."""
        if self._entries:
            self._write_index()
        rows = sum(one.rows for one in self._files)
        return GroupFiles(self._group, rows, dict(sorted(self._created.items())), self._files, self._indexes)

    def _write_index(self) -> None:
        first = len(self._files) - len(self._entries)
        self._indexes.append(index_files.write(self._target, self._folder, self._group, first, self._entries))
        self._entries = []


class DayWriter:
    """Writes one generation of a day. `work`: an empty folder for temporary files."""

    def __init__(self, target: ArchiveTarget, folder: DayFolder, work: Path) -> None:
        self._target, self._folder = target, folder
        self._sorter = RowSorter(work)
        self._written: list[GroupFiles] = []
        self._checksums: list[Checksum] = []

    @property
    def rows(self) -> int:
        """How many rows were added."""
        return self._sorter.rows

    def add(self, path: Path) -> None:
        """Take rows that PostgreSQL has copied to a CSV file. The file is not needed any more."""
        self._sorter.add(path)

    def groups(self) -> list[int]:
        """The groups that have rows. Nothing may be added any more."""
        self._sorter.finish()
        return self._sorter.groups()

    def write_group(self, group: int) -> None:
        """Write the files and indexes of one group."""
        writer = GroupWriter(self._target, self._folder, group)
        for table in self._sorter.tables(group):
            writer.add(table)
        self._written.append(writer.finish())
        self._checksums.append(writer.checksum)

    def manifest(self, generation: int) -> Manifest:
        """The manifest of the groups that were written. It is not published."""
        return manifest_of(self._folder, generation, add_checksums(self._checksums), self._written)


def publish(target: ArchiveTarget, manifest: Manifest) -> None:
    """Write a manifest: from now on readers find these files.

    Raises `Conflict` where another manifest has its number. The same manifest may be there already, written by an
    earlier round that was killed.
    """
    content = encode(manifest)
    if not create_verified(target, manifest.name, content) and target.get(manifest.name) != content:
        raise Conflict(f"the archive has another {manifest.name}")


def delete_replaced(target: ArchiveTarget, manifest: Manifest) -> int:
    """Delete what the newest manifest of a day does not name. Returns how many objects were deleted.

    Older manifests go first: whoever finds one must find its files, too.
    """
    keep = {manifest.name, *(one.name for one in manifest.objects())}
    replaced = [one.name for one in target.listing(manifest.folder.prefix) if one.name not in keep]
    return _delete(target, replaced)


def delete_day(target: ArchiveTarget, folder: DayFolder) -> int:
    """Delete all of a day. Returns how many objects were deleted.

    1. The manifests go first, the oldest first: as long as there is one, it is the newest and has all its files.
    2. Then the files. A kill in between leaves files that no reader finds, and that the next call deletes.
    """
    return _delete(target, [one.name for one in target.listing(folder.prefix)])


def _delete(target: ArchiveTarget, names: Iterable[str]) -> int:
    ordered = sorted(names, key=lambda name: ("/manifest-" not in name, name))
    for name in ordered:
        target.delete(name)
    return len(ordered)
