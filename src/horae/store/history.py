"""What has ended. Rows are appended once and never changed; each is the event of its end."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class Past(NamedTuple):
    """One instance of a job as people look at it: ended, or still to come."""

    id: UUID
    job_id: UUID
    business_key: str | None
    fire_time: datetime
    state: str
    reason: str | None
    attempt: int
    retry_count: int
    changed_at: datetime
    trigger_delay_ms: int | None
    duration_ms: int | None
    range_to: datetime | None
    range_count: int | None
    error_code: str | None
    error_msg: str | None
    idem_key: str
    attempts: Sequence[Any] | None


async def of_job(tx: Tx, tenant_id: UUID, job_id: UUID, limit: int) -> list[Past]:
    """The latest instances of a job in this cell, live and ended behind one list, newest fire first."""
    return [Past(*row) for row in await tx.rows(sql("history/of_job"), tenant_id, job_id, limit)]
