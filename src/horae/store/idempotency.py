"""Idempotency keys of requests. Key and effect live in one shard, hence commit together."""

from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.errors import InFlight
from horae.store.statements import sql
from horae.store.tx import LOCKED, Tx

KEPT: Final = timedelta(hours=24)
PATIENCE: Final = "1s"
"""How long a request waits for the first one with its key."""


class Request(NamedTuple):
    """The scope of a key: tenant, route and resource; the resource decides the shard."""

    shard: int
    tenant_id: UUID
    route: str
    resource: str
    key: str
    fingerprint: bytes


class Remembered(NamedTuple):
    """What the first request with that key was, and what it was answered."""

    fingerprint: bytes
    instance_id: UUID | None
    answer: Any


async def reserve(tx: Tx, request: Request, instance_id: UUID | None, answer: object) -> bool:
    """Write the key with its answer; False when it was used before, or the shard is closed.

    Refused while the first request with that key is in flight, for longer than a moment.
    """
    args = (*request, instance_id, answer, tx.now, tx.now + KEPT, PATIENCE)
    try:
        return await tx.value(sql("idempotency/reserve"), *args) is not None
    except LOCKED as error:
        raise InFlight("the first request with this Idempotency-Key is still in flight") from error


async def find(tx: Tx, request: Request) -> Remembered | None:
    """The first request with that key."""
    row = await tx.row(sql("idempotency/find"), *request[:5])
    return None if row is None else Remembered(*row)


async def answer(tx: Tx, request: Request, instance_id: UUID | None, said: object) -> None:
    """Keep what a request is answered, in the transaction that reserved its key."""
    await tx.run(sql("idempotency/answer"), *request[:5], instance_id, said)


async def release(tx: Tx, request: Request) -> bool:
    """Let a key be used for another request; False where it is another's by now."""
    return await tx.value(sql("idempotency/release"), *request, tx.now) is not None


async def forget(tx: Tx, limit: int) -> int:
    """Remove keys that have expired, at most so many; returns how many went."""
    return len(await tx.rows(sql("idempotency/forget"), tx.now, limit))
