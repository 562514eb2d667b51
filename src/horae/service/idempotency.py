"""Idempotent operations: an Idempotency-Key, the effect and the answer are written in one transaction.

1. An operation that runs one transaction in the shard of its resource becomes idempotent without a change of its code.
   It gets a store that reserves the key before the work and stores the answer after it.
2. A second request with the same key waits for the first, for a moment at most, and gets its answer.
3. A second request with the same key and another body is refused.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import read, request_of
from horae.domain.errors import Contended, Duplicate, HoraeError, KeyRequired, ShardClosed, Unavailable
from horae.domain.ids import shard_in
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.idempotent_store import IdempotentStore, KeyUsed
from horae.store import idempotency
from horae.store.idempotency import KeyScope
from horae.store.tx import Tx

Result = TypeVar("Result")
BY_BODY: Final = ""
"""The resource of a binding (`bind_key`): empty, because the body names the resources."""


class IdempotentCall(NamedTuple):
    """A request under an Idempotency-Key: the route, the resource with its shard, and the body."""

    key: str
    route: str
    resource: str
    shard: int
    body: object


class IdempotentResult(NamedTuple):
    """An answer, and whether an earlier request with the key gave it."""

    answer: Any
    replayed: bool


async def once(
    ctx: Context,
    asked: IdempotentCall,
    verb: Callable[[Context], Awaitable[Result]],
    answer: Callable[[Result], object],
    *,
    instance: Callable[[Result], UUID | None] = lambda _result: None,
) -> IdempotentResult:
    """Run an operation once per Idempotency-Key, or return the stored answer. `answer` makes it from a result."""
    check_key(asked.key)
    request = KeyScope(asked.shard, ctx.tenant.id, asked.route, asked.resource, asked.key, fingerprint(asked.body))
    spot = request_of(asked.route, asked.resource, asked.key)
    key = await ctx.store.cipher.key(ctx.tenant.id)
    store = IdempotentStore(ctx.store, request, answer, instance, lambda said: encrypt_value(key, spot, said))
    try:
        await verb(ctx._replace(store=store))
    except KeyUsed as used:
        said = await ctx.store.cipher.decrypt(ctx.tenant.id, spot, read(used.first.answer))
        return IdempotentResult(said, replayed=True)
    return IdempotentResult(store.answered, replayed=False)


@asynccontextmanager
async def bind_key(ctx: Context, route: str, key: str, body: object) -> AsyncIterator[None]:
    """Bind an Idempotency-Key to a body for the length of the block, for a route whose body names the resources.

    1. The binding is a row of its own, in a shard that the key decides. It is committed before the block runs.
    2. A request with another body under the key finds the binding and is refused. The same body continues with `once`.
    3. A final refusal of the request releases the key, so that a corrected body may use it.
    """
    check_key(key)
    shard = ctx.tenant.fixed_placement().shard(shard_in(ctx.tenant.id), f"idempotency/{key}")
    request = KeyScope(shard, ctx.tenant.id, route, BY_BODY, key, fingerprint(body))

    async def bind(tx: Tx) -> None:
        if await idempotency.reserve(tx, request, None, None):
            return
        first = await idempotency.find(tx, request)
        if first is None:
            raise ShardClosed("the key's shard is moving; nothing was changed")
        if first.fingerprint != request.fingerprint:
            raise Duplicate("this Idempotency-Key was used for another request")

    await ctx.store.run(shard, bind)
    try:
        yield
    except (Unavailable, Duplicate, Contended):
        raise
    except HoraeError:
        await ctx.store.run(shard, lambda tx: idempotency.release(tx, request))
        raise


def fingerprint(body: object) -> bytes:
    """Returns a digest of a body. Under one key it distinguishes one request from another."""
    return sha256(msgspec.json.encode(body, order="deterministic")).digest()


def check_key(key: str) -> None:
    """Refuse keys that are empty, too long or not printable ASCII."""
    if not key or len(key) > LONGEST_IDEMPOTENCY_KEY or not key.isascii() or not key.isprintable():
        raise KeyRequired(f"an Idempotency-Key is 1 to {LONGEST_IDEMPOTENCY_KEY} printable ASCII characters")
