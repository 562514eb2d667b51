"""Once per Idempotency-Key: the key, the effect and the answer are written in one transaction.

A verb that does its work in one transaction of its resource's shard becomes idempotent without knowing it: it is given
a store that reserves the key before the work and keeps the answer after it. A second request with the key waits for the
first, a moment at most, then gets its answer again; with another body it is refused.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeVar, cast
from uuid import UUID

import msgspec

from horae.domain.errors import Contended, Duplicate, HoraeError, KeyRequired, ShardClosed, Unavailable
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.sealed import read, request_of
from horae.security.sealing import seal
from horae.service.context import Context
from horae.store import history, idempotency
from horae.store.cells import Store
from horae.store.idempotency import Remembered, Request
from horae.store.tx import Tx

Result = TypeVar("Result")
LONGEST_KEY = 200
BY_BODY: Final = ""
"""The resource of a binding: none, for the body names it."""


class Asked(NamedTuple):
    """What is asked for under a key: the route, the resource it is about with its shard, and the body."""

    key: str
    route: str
    resource: str
    shard: int
    body: object


class Done(NamedTuple):
    """An answer, and whether it is an earlier one."""

    answer: Any
    replayed: bool


async def once(
    ctx: Context,
    asked: Asked,
    verb: Callable[[Context], Awaitable[Result]],
    answer: Callable[[Result], object],
    *,
    instance: Callable[[Result], UUID | None] = lambda _result: None,
) -> Done:
    """Do it, or say again what was said when it was done. `answer` makes of the result what is stored and said."""
    check_key(asked.key)
    request = Request(asked.shard, ctx.tenant.id, asked.route, asked.resource, asked.key, fingerprint(asked.body))
    spot = request_of(asked.route, asked.resource, asked.key)
    key = await ctx.store.sealing.key(ctx.tenant.id)
    keeping = _Keeping(ctx.store, request, answer, instance, lambda said: seal(key, spot, said))
    try:
        await verb(ctx._replace(store=cast("Store", keeping)))
    except _Used as used:
        said = await ctx.store.sealing.open(ctx.tenant.id, spot, read(used.first.answer))
        return Done(said, replayed=True)
    return Done(keeping.answered, replayed=False)


@asynccontextmanager
async def bound(ctx: Context, route: str, key: str, body: object) -> AsyncIterator[None]:
    """Bind a key to a body, for a route whose resources are named by the body, while the block does what it asks for.

    1. The binding is a row of its own, in a shard that the key decides, and is committed before anything is done.
    2. Another body under that key finds the binding and is refused; the same body goes on to `once`.
    3. A refusal that says that nothing can be done as asked releases the key: a mended body may use it.
    """
    check_key(key)
    shard = ctx.tenant.fixed().shard(shard_in(ctx.tenant.id), f"idempotency/{key}")
    request = Request(shard, ctx.tenant.id, route, BY_BODY, key, fingerprint(body))

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
    """What tells one request from another under the same key."""
    return sha256(msgspec.json.encode(body, order="deterministic")).digest()


def check_key(key: str) -> None:
    """Refuse keys that could not be told apart or printed later."""
    if not key or len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise KeyRequired(f"an Idempotency-Key is 1 to {LONGEST_KEY} printable ASCII characters")


class _Used(Exception):
    """The key was used for this very request: here is what was said."""

    def __init__(self, first: Remembered) -> None:
        self.first = first


class _Keeping:
    """A store whose transactions in one shard carry a key. All else it passes on."""

    def __init__(
        self,
        store: Store,
        request: Request,
        answer: Callable[[Any], object],
        instance: Callable[[Any], UUID | None],
        sealed: Callable[[object], object],
    ) -> None:
        self._store = store
        self._request = request
        self._answer = answer
        self._instance = instance
        self._sealed = sealed
        self.answered: object = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def run(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """The work, with the key before it and its answer behind it."""
        assert shard == self._request.shard, "the key and the effect live in one shard, or they could part"

        async def kept(tx: Tx) -> Result:
            await self._reserve(tx)
            result = await work(tx)
            self.answered = msgspec.to_builtins(self._answer(result))
            await idempotency.answer(tx, self._request, self._instance(result), self._sealed(self.answered))
            return result

        return await self._store.run(shard, kept)

    async def run_after_read(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """The same: the key is a write, and comes first."""
        return await self.run(shard, work)

    async def _reserve(self, tx: Tx) -> None:
        if await idempotency.reserve(tx, self._request, None, None):
            return
        first = await idempotency.find(tx, self._request)
        if first is None:
            raise ShardClosed("the shard is moving; nothing was changed")
        if first.fingerprint != self._request.fingerprint:
            raise Duplicate(
                "this Idempotency-Key was used for another request", **await _said(tx, self._request.tenant_id, first)
            )
        raise _Used(first)


async def _said(tx: Tx, tenant_id: UUID, first: Remembered) -> dict[str, object]:
    """The first request's instance and what it is now, for the one who asks again with another body."""
    if first.instance_id is None:
        return {}
    found = await history.find(tx, tenant_id, first.instance_id)
    return {"instance_id": public(Prefix.INSTANCE, first.instance_id), "state": None if found is None else found.state}
