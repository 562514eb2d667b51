"""Queues: which there are, what waits in them, and who holds attempts of them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.workers.queue_workers import POLLING_WINDOW, Queue, UnattendedQueue
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_COUNTED: Final = 1000
"""Waiting instances of a queue that are counted in each class (priority and lane) of a cell."""
MAX_CLAIMED_READ: Final = 20_000
"""Running attempts of a tenant that are read in a cell."""
MAX_LIVE_NAMES: Final = 2000
"""Queues in which something waits that are read in a cell, to find those that no job names any more."""
JOBS_LISTED: Final = 10
"""Jobs and types that are listed with a queue."""
QueuePlace = tuple[UUID, str]
"""Tenant and queue."""
FIRST_PLACE: Final[QueuePlace] = (UUID(int=0), "")
"""The place before all queues of a cell."""
ClaimedAttempts = dict[tuple[str, str], int]
"""How many attempts a worker holds, by queue and worker id."""


async def names(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[str]:
    """The names of a tenant's queues in this cell after a name, in the order of their bytes."""
    return [row["name"] for row in await tx.rows(sql("workers/queues/names"), tenant_id, after, limit, MAX_LIVE_NAMES)]


async def describe(tx: Tx, tenant_id: UUID, queues: Sequence[str]) -> list[Queue]:
    """What this cell knows of some queues of a tenant, without the claimed attempts."""
    polled_after = tx.now - POLLING_WINDOW
    rows = await tx.rows(
        sql("workers/queues/describe"), tenant_id, queues, tx.now, polled_after, MAX_COUNTED, JOBS_LISTED
    )
    return [
        Queue(
            row["queue"],
            waiting=row["waiting"],
            is_more=row["is_more"],
            oldest=row["oldest"],
            polling=row["polling"],
            polled_at=row["polled_at"],
            jobs=tuple(row["jobs"]),
        )
        for row in rows
    ]


async def claimed(tx: Tx, tenant_id: UUID) -> ClaimedAttempts:
    """How many attempts the workers of a tenant hold in this cell."""
    rows = await tx.rows(sql("workers/queues/claimed"), tenant_id, MAX_CLAIMED_READ)
    return {(row["queue"], row["worker_id"]): row["attempts"] for row in rows}


async def unattended(
    tx: Tx, after: QueuePlace, limit: int, silence: timedelta
) -> tuple[list[UnattendedQueue], QueuePlace | None]:
    """Queues of this cell, of all tenants, in which work has waited for `silence` and that nobody polled for as long.

    Looks at `limit` queues after a place. Returns the unattended ones, and the place to continue at; None at the end.
    """
    before = tx.now - silence
    rows = await tx.rows(sql("workers/queues/unattended"), after[0], after[1], limit, before, before)
    found = [UnattendedQueue(*row) for row in rows if row["oldest"] is not None]
    return found, (rows[-1]["tenant_id"], rows[-1]["queue"]) if len(rows) == limit else None


async def busy(tx: Tx, places: Sequence[QueuePlace]) -> set[QueuePlace]:
    """Of some queues those of which a worker holds an attempt in this cell."""
    tenant_ids, queue_names = [tenant_id for tenant_id, _ in places], [name for _, name in places]
    rows = await tx.rows(sql("workers/queues/busy"), tenant_ids, queue_names)
    return {(row["tenant_id"], row["queue"]) for row in rows}
