"""Takes the rows of removed tenants out of an archived day, as its next generation."""

from collections.abc import Collection
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from horae.archive.columns import ID, checksum_of
from horae.archive.day_reader import read_file
from horae.archive.day_writer import GroupWriter
from horae.archive.index_files import INDEXED
from horae.archive.layout import group_of
from horae.archive.manifests import (
    Checksum,
    DataFile,
    GroupFiles,
    Manifest,
    add_checksums,
    manifest_of,
    subtract_checksum,
)
from horae.archive.targets import ArchiveTarget


def write_without(target: ArchiveTarget, manifest: Manifest, tenant_ids: Collection[UUID]) -> Manifest | None:
    """Write the files of a day without some tenants. Returns the next manifest, which is not written.

    None where the day has no rows of these tenants. Only the groups of these tenants are read, and only the files with
    their rows are written again.
    """
    removed: Checksum = {}
    groups = []
    for group in manifest.groups:
        members = [one for one in tenant_ids if group_of(one) == group.group]
        affected = [file for file in group.files if _may_have(file, members)]
        found = {file.name: sum_ for file in affected if (sum_ := _checksum_of_tenants(target, file, members))}
        removed = add_checksums([removed, *found.values()])
        groups.append(_rewrite(target, manifest, group, members, found) if found else group)
    if not removed:
        return None
    return manifest_of(manifest.folder, manifest.generation + 1, subtract_checksum(manifest.checksum, removed), groups)


def _may_have(file: DataFile, members: Collection[UUID]) -> bool:
    return any(file.first_tenant <= one <= file.last_tenant for one in members)


def _checksum_of_tenants(target: ArchiveTarget, file: DataFile, members: Collection[UUID]) -> Checksum:
    table = read_file(target, file, ["tenant_id", "id", "state"])
    return checksum_of(table.filter(_belongs_to(table, members)))


def _belongs_to(table: pa.Table, members: Collection[UUID]) -> pa.ChunkedArray:
    return pc.is_in(table["tenant_id"], pa.array([one.bytes for one in members], ID))


def _rewrite(
    target: ArchiveTarget, manifest: Manifest, group: GroupFiles, members: Collection[UUID], found: Collection[str]
) -> GroupFiles:
    writer = GroupWriter(target, manifest.folder, group.group)
    for file in group.files:
        if file.name in found:
            table = read_file(target, file)
            table = table.filter(pc.invert(_belongs_to(table, members)))
            if table.num_rows:
                writer.add(table)
        else:
            writer.add(read_file(target, file, [*INDEXED, "state"]), written=file)
    return writer.finish()
