"""Idempotency keys of requests. Key and effect are in one shard, so they commit together."""

from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.errors import InFlight
from horae.store.statements import sql
from horae.store.tx import LOCKED, Tx

IDEMPOTENCY_KEYS_KEPT: Final = timedelta(hours=24)
FIRST_REQUEST_TIMEOUT: Final = "1s"
"""How long a request waits for the first one with its key."""


class KeyScope(NamedTuple):
    """The scope of a key: tenant, route and resource; the resource decides the shard."""

    shard: int
    tenant_id: UUID
    route: str
    resource: str
    key: str
    fingerprint: bytes


class RememberedAnswer(NamedTuple):
    """The fingerprint of the first request with a key, and its answer."""

    fingerprint: bytes
    instance_id: UUID | None
    answer: Any


async def reserve(tx: Tx, request: KeyScope, instance_id: UUID | None, answer: object) -> bool:
    """Insert the key with its answer; False when it was used before, or the shard is closed.

    Raises `InFlight` if the first request with that key is still in flight after a moment.
    """
    args = (*request, instance_id, answer, tx.now, tx.now + IDEMPOTENCY_KEYS_KEPT, FIRST_REQUEST_TIMEOUT)
    try:
        return await tx.value(sql("idempotency/reserve"), *args) is not None
    except LOCKED as error:
        raise InFlight("the first request with this Idempotency-Key is still in flight") from error


async def find(tx: Tx, request: KeyScope) -> RememberedAnswer | None:
    """The first request with that key."""
    row = await tx.row(sql("idempotency/find"), *request[:5])
    return None if row is None else RememberedAnswer(*row)


async def answer(tx: Tx, request: KeyScope, instance_id: UUID | None, said: object) -> None:
    """Store the answer of a request, in the transaction that reserved its key."""
    await tx.run(sql("idempotency/answer"), *request[:5], instance_id, said)


async def release(tx: Tx, request: KeyScope) -> bool:
    """Free a key for another request; False when it belongs to another request by now."""
    return await tx.value(sql("idempotency/release"), *request, tx.now) is not None


async def forget(tx: Tx, limit: int) -> int:
    """Delete expired keys, at most `limit`; returns how many."""
    return len(await tx.rows(sql("idempotency/forget"), tx.now, limit))
