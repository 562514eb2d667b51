"""What an audit of fires reads about archived days: which there are, and what PostgreSQL still has of them."""

from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class AuditedDay(NamedTuple):
    """An archived day of a cell. `is_hot`: PostgreSQL has its rows, too."""

    day: date
    archive_id: UUID
    generation: int
    rows: int
    bytes: int
    is_hot: bool


class JobDigest(NamedTuple):
    """How many rows a job has in a day, and a sum of digests over them, which does not depend on their order."""

    rows: int
    digest: int


async def listing(tx: Tx, first: date) -> list[AuditedDay]:
    """The archived days of this cell from a day on."""
    return [AuditedDay(*row) for row in await tx.rows(sql("audit/archived_fires/listing"), first)]


async def digests(tx: Tx, begin: datetime, end: datetime, tenant_id: UUID | None) -> dict[UUID, JobDigest]:
    """The digests of the rows that ended from one time to another, by job."""
    found = await tx.rows(sql("audit/archived_fires/digests"), begin, end, tenant_id)
    return {row["job_id"]: JobDigest(row["rows"], int(row["digest"])) for row in found}
