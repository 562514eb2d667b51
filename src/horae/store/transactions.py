"""Runs work in transactions, again where that is safe: of one cell, and of the cell that holds a shard.

These are base classes of every cell and every store (`protocol`). A subclass says how a transaction begins, or which
cell holds a shard.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final, TypeVar

from horae.domain.errors import KeysUnavailable
from horae.runtime.clock import Clock
from horae.store.connections.deadlines import ANSWER_TIMEOUT_S
from horae.store.connections.held_connections import KeyNotLoaded, repeatable
from horae.store.protocol import CellProtocol
from horae.store.tx import GONE, TRY_AGAIN, Tx

Result = TypeVar("Result")
TRIES: Final = 5
MOST_KEYS: Final = 100
"""How many missing data keys one transaction may read before it fails."""


class CellTransactions(ABC):
    """Runs work in one cell."""

    clock: Clock

    @abstractmethod
    def tx(self) -> AbstractAsyncContextManager[Tx]:
        """A transaction: committed at the end of the block, rolled back when it raises."""

    @abstractmethod
    def statement(self) -> AbstractAsyncContextManager[Tx]:
        """Single statements."""

    async def run(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction. Repeats it after an error that wrote nothing, such as a deadlock."""
        with repeatable():
            return await _repeat(self.tx, work)

    async def run_statements(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Like `run`, without a transaction: for work in which each write is one statement that includes its event."""
        return await _repeat(self.statement, work)

    async def run_after_read(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Like `run_statements`, for work that begins with a read.

        If the connection is lost before the first answer arrives, nothing was written, so the work runs again on
        another connection.
        """
        until = self.clock.ticks() + ANSWER_TIMEOUT_S
        while True:
            begun: list[Tx] = []
            try:
                return await self.run_statements(partial(_remembered, begun, work))
            except GONE:
                if not begun or begun[-1].heard or self.clock.ticks() > until:
                    raise


class ShardTransactions(ABC):
    """Runs work in the cell that holds a shard."""

    @abstractmethod
    def cell(self, shard: int) -> CellProtocol:
        """The cell that holds a shard."""

    def tx(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """A transaction in the cell that holds a shard."""
        return self.cell(shard).tx()

    async def run(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction of the cell that holds a shard. Repeats it after an error that wrote nothing."""
        return await self.cell(shard).run(work)

    async def run_after_read(self, shard: int, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run `work`, which begins with a read, without a transaction, in the cell that holds a shard."""
        return await self.cell(shard).run_after_read(work)

    def statement(self, shard: int) -> AbstractAsyncContextManager[Tx]:
        """Single statements in the cell that holds a shard."""
        return self.cell(shard).statement()


async def _repeat(
    begin: Callable[[], AbstractAsyncContextManager[Tx]], work: Callable[[Tx], Awaitable[Result]]
) -> Result:
    """Run `work` in a new `Tx` until it succeeds; returns its result.

    1. After an error under contention nothing was written: run the work again, at most `TRIES` times.
    2. If a data key is missing, the connection is given back first; then read the key and run the work again.
    3. If the key cannot be read, the next run of the work raises that error itself.
    4. Any other error is raised at once.
    """
    tries, keys = TRIES, MOST_KEYS
    while True:
        try:
            async with begin() as tx:
                return await work(tx)
        except TRY_AGAIN:
            tries -= 1
            if not tries:
                raise
        except KeyNotLoaded as missing:
            keys -= 1
            if not keys:
                raise KeysUnavailable("too many data keys had to be read for one transaction") from missing
            with suppress(KeysUnavailable):  # then the next run of the work raises it
                await missing.learn()


async def _remembered(begun: list[Tx], work: Callable[[Tx], Awaitable[Result]], tx: Tx) -> Result:
    begun.append(tx)
    return await work(tx)
