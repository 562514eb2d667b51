"""Events without a history row, written in the transaction of the change."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from horae.domain.events.events import Event
from horae.store.statements import sql
from horae.store.tx import Tx


class OutboxRow(NamedTuple):
    """One of many events of the same kind."""

    shard: int
    tenant_id: UUID
    job_id: UUID
    instance_id: UUID | None
    body: object


async def append(
    tx: Tx,
    shard: int,
    tenant_id: UUID,
    event: Event,
    body: object,
    *,
    job_id: UUID | None,
    instance_id: UUID | None = None,
) -> None:
    """Record an event; the statement of the change has passed the fence."""
    await tx.run(sql("events/outbox/append"), tx.now, shard, tenant_id, job_id, instance_id, event, body)


async def append_many(tx: Tx, event: Event, rows: Sequence[OutboxRow]) -> None:
    """Record many events of one kind."""
    await tx.run(sql("events/outbox/append_many"), tx.now, event, *zip(*rows, strict=True))
