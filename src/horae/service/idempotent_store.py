"""A store whose transactions in one shard write an idempotency key, the effect and the answer together."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from horae.domain.errors import Duplicate, ShardClosed
from horae.domain.ids import Prefix, public
from horae.runtime.clock import Clock
from horae.store import idempotency
from horae.store.idempotency import KeyScope, RememberedAnswer
from horae.store.instances import history
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

Result = TypeVar("Result")


class KeyUsed(Exception):
    """The key was used for the same request; `first` has the stored answer."""

    def __init__(self, first: RememberedAnswer) -> None:
        self.first = first


class IdempotentStore:
    """A `StoreProtocol` for one request under an Idempotency-Key.

    `run` reserves the key before the work and stores the answer after it. Reads and everything else go to the
    underlying store.
    """

    def __init__(
        self,
        store: StoreProtocol,
        request: KeyScope,
        answer: Callable[[Any], object],
        instance: Callable[[Any], UUID | None],
        encrypt: Callable[[object], object],
    ) -> None:
        self._store = store
        self.cells = store.cells
        self.wakes, self.cipher, self.brokers = store.wakes, store.cipher, store.brokers
        self._request = request
        self._answer = answer
        self._instance = instance
        self._encrypt = encrypt
        self.answered: object = None

    async def run(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run the work in a transaction, after the key is reserved, and store its answer."""
        assert shard == self._request.shard, "the key and the effect live in one shard, or they could part"

        async def kept(tx: Tx) -> Result:
            await self._reserve(tx)
            result = await work(tx)
            self.answered = msgspec.to_builtins(self._answer(result))
            await idempotency.answer(tx, self._request, self._instance(result), self._encrypt(self.answered))
            return result

        return await self._store.run(shard, kept)

    async def run_after_read(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """The same in a transaction, because reserving the key is a write and comes first."""
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
        raise KeyUsed(first)

    @property
    def clock(self) -> Clock:
        """The clock of the underlying store."""
        return self._store.clock

    def cell(self, shard: int) -> CellProtocol:
        """The cell that holds a shard."""
        return self._store.cell(shard)

    def holds(self, cell: CellProtocol, shard: int) -> bool:
        """Whether a shard is open in a cell, as far as this process knows."""
        return self._store.holds(cell, shard)

    def home_first(self, shard: int) -> Sequence[CellProtocol]:
        """All cells: the home cell of a shard first, cells that are down last."""
        return self._store.home_first(shard)

    def former_cells(self, shard: int) -> Sequence[CellProtocol]:
        """The cells that held a shard before it moved."""
        return self._store.former_cells(shard)

    def shards_of(self, cell: CellProtocol) -> list[int]:
        """The shards a cell holds."""
        return self._store.shards_of(cell)

    def tx(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """A transaction without the key."""
        return self._store.tx(shard)

    def statement(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """Single statements without the key."""
        return self._store.statement(shard)


async def _said(tx: Tx, tenant_id: UUID, first: RememberedAnswer) -> dict[str, object]:
    """Returns the first request's instance and its state, for the refusal of a request with another body."""
    if first.instance_id is None:
        return {}
    found = await history.find(tx, tenant_id, first.instance_id)
    return {"instance_id": public(Prefix.INSTANCE, first.instance_id), "state": None if found is None else found.state}
