"""Names of objects in the archive. A name says the day and the group of tenants, never the cell.

    days/2026-11-01/<archive id>/manifest-0001.json
    days/2026-11-01/<archive id>/g-3f/<content>.parquet
    days/2026-11-01/<archive id>/g-3f/<content>.index

Each cell draws an archive id for each of its days, so that cells never write to the same folder.
"""

import hashlib
import re
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

GROUPS: Final = 64
"""Groups of tenants. Each has files of its own, so that a reader opens 1/64 of a day."""
CONTENT_DIGITS: Final = 32
"""Hexadecimal digits of the content's SHA-256 in a name."""
MANIFEST: Final = re.compile(r"/manifest-(\d{4,})\.json$")


def group_of(tenant_id: UUID) -> int:
    """The group of a tenant: the last bits of its id, which are random."""
    return tenant_id.int % GROUPS


def prefix_of(day: date) -> str:
    """What the names of all objects of a day begin with, of all cells."""
    return f"days/{day:%Y-%m-%d}/"


def sha256_of(content: bytes) -> str:
    """The SHA-256 of an object, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def generation_in(name: str) -> int | None:
    """The number of a manifest; None for the name of any other object."""
    found = MANIFEST.search(name)
    return None if found is None else int(found[1])


class DayFolder(NamedTuple):
    """Where a cell keeps one day."""

    day: date
    archive_id: UUID

    @property
    def prefix(self) -> str:
        """What the names of all objects of this folder begin with."""
        return f"{prefix_of(self.day)}{self.archive_id}/"

    def manifest(self, generation: int) -> str:
        """The name of a manifest."""
        return f"{self.prefix}manifest-{generation:04d}.json"

    def data_file(self, group: int, sha256: str) -> str:
        """The name of a file with rows."""
        return f"{self.prefix}g-{group:02x}/{sha256[:CONTENT_DIGITS]}.parquet"

    def index_file(self, group: int, sha256: str) -> str:
        """The name of an index. It is a Parquet file, too; its ending keeps it out of `*.parquet`."""
        return f"{self.prefix}g-{group:02x}/{sha256[:CONTENT_DIGITS]}.index"


def folder_in(name: str) -> DayFolder:
    """The folder of an object. Raises ValueError for a name that is not one of ours."""
    kind, day, archive_id, *_ = name.split("/")
    if kind != "days":
        raise ValueError(f"{name} is not an object of the archive")
    return DayFolder(date.fromisoformat(day), UUID(archive_id))
