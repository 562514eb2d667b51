"""Events that leave no history row, written in the transaction of what they tell."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from horae.domain.events import Event
from horae.store.statements import sql
from horae.store.tx import Tx


class Told(NamedTuple):
    """One event of many of a kind."""

    shard: int
    tenant_id: UUID
    job_id: UUID
    instance_id: UUID
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
    """Tell that something happened; the change's own statement has passed the fence."""
    await tx.run(sql("outbox/append"), tx.now, shard, tenant_id, job_id, instance_id, event, body)


async def append_many(tx: Tx, event: Event, told: Sequence[Told]) -> None:
    """The same for many of a kind."""
    await tx.run(sql("outbox/append_many"), tx.now, event, *zip(*told, strict=True))
