"""A manifest says what an archived day consists of. What no manifest names does not exist for a reader."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Final
from uuid import UUID

import msgspec

from horae.archive.layout import DayFolder

SCHEMA_VERSION: Final = 1
"""The version of the columns and files that this release writes. A reader refuses a newer one."""
ID_SUM_MODULUS: Final = 1 << 64


class StateSum(msgspec.Struct, frozen=True):
    """How many rows have one state, and the sum of the last 64 bits of their ids, modulo 2⁶⁴.

    The bits are random, so two sets of rows with equal sums are the same rows. PostgreSQL computes the same sum over
    the table of a day.
    """

    rows: int
    ids: int

    def __add__(self, other: "StateSum") -> "StateSum":
        return StateSum(self.rows + other.rows, (self.ids + other.ids) % ID_SUM_MODULUS)

    def __sub__(self, other: "StateSum") -> "StateSum":
        return StateSum(self.rows - other.rows, (self.ids - other.ids) % ID_SUM_MODULUS)


Checksum = dict[str, StateSum]
"""A sum for each state that occurs. It does not depend on the order of rows."""


def add_checksums(parts: Iterable[Checksum]) -> Checksum:
    """The checksum of several sets of rows together."""
    total: Checksum = {}
    for part in parts:
        for state, found in part.items():
            total[state] = total.get(state, StateSum(0, 0)) + found
    return total


def subtract_checksum(whole: Checksum, part: Checksum) -> Checksum:
    """The checksum of the rows that stay when some go."""
    left = {state: found - part.get(state, StateSum(0, 0)) for state, found in whole.items()}
    return {state: found for state, found in left.items() if found.rows}


class DataFile(msgspec.Struct, frozen=True):
    """A file with rows of one group, sorted by tenant, job, fire time and id."""

    name: str
    rows: int
    bytes: int
    sha256: str
    first_tenant: UUID
    last_tenant: UUID
    first_fire: datetime
    last_fire: datetime


class IndexFile(msgspec.Struct, frozen=True):
    """An index of consecutive files of a group, from the file with the number `first_file` on."""

    name: str
    entries: int
    bytes: int
    sha256: str
    first_file: int


class GroupFiles(msgspec.Struct, frozen=True):
    """The files of one group of tenants.

    `created`: how many of the instances were created on each day. One that waited for long was created on an earlier
    day than the one on which it ended.
    """

    group: int
    rows: int
    created: dict[date, int]
    files: list[DataFile]
    indexes: list[IndexFile]

    def objects(self) -> Iterator[DataFile | IndexFile]:
        """All objects of the group."""
        yield from self.files
        yield from self.indexes


class Manifest(msgspec.Struct, frozen=True):
    """One generation of an archived day. A later generation replaces it as a whole."""

    schema_version: int
    day: date
    archive_id: UUID
    generation: int
    rows: int
    bytes: int
    checksum: Checksum
    groups: list[GroupFiles]

    @property
    def folder(self) -> DayFolder:
        """Where the day is kept."""
        return DayFolder(self.day, self.archive_id)

    @property
    def name(self) -> str:
        """The name of the manifest itself."""
        return self.folder.manifest(self.generation)

    def objects(self) -> Iterator[DataFile | IndexFile]:
        """All objects that the manifest names."""
        for group in self.groups:
            yield from group.objects()

    def of_group(self, number: int) -> GroupFiles | None:
        """The files of a group of tenants; None where it has no rows on this day."""
        return next((group for group in self.groups if group.group == number), None)


def manifest_of(folder: DayFolder, generation: int, checksum: Checksum, groups: Iterable[GroupFiles]) -> Manifest:
    """The manifest of groups that have been written."""
    ordered = sorted((group for group in groups if group.rows), key=lambda group: group.group)
    size = sum(one.bytes for group in ordered for one in group.objects())
    rows = sum(group.rows for group in ordered)
    return Manifest(SCHEMA_VERSION, *folder, generation, rows, size, dict(sorted(checksum.items())), ordered)


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Manifest).decode
