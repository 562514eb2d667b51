"""What tests of shard moves do: ask for a move, run it to a step, look at both cells."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from horae.domain.moves.moves import ROWS_KEPT, Move, MoveStep
from horae.runtime.randomness import new_id
from horae.store.cells import Cell
from horae.store.databases.table_moves import COPIED_IN_MOVE, DELETED_AFTER_MOVE, TABLE_MOVES
from horae.store.moves import moves, shard_states
from horae.store.store import Store
from horae.store.tx import Tx
from horae.upkeep.move_steps import LEASE_TTL, MoveCoordinator
from tests.steps import move_clock, query


class KilledError(Exception):
    """The coordinator was killed: nothing that it would do next happens."""


class MortalCoordinator(MoveCoordinator):
    """Is killed after some transactions in the source or the target."""

    def __init__(self, source: Cell, target: Cell, coordinator: UUID, transactions: int) -> None:
        super().__init__(source, target, coordinator)
        self.left = transactions

    async def _in_source(self, work):
        return await self._count(super()._in_source(work))

    async def _in_target(self, work):
        return await self._count(super()._in_target(work))

    async def _count(self, transaction):
        done = await transaction
        self.left -= 1
        if self.left <= 0:
            raise KilledError
        return done


class RowsRead:
    """The reading statements of two cells from now on, and how many rows of a table they read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *cells: Cell) -> None:
        self._asked: dict[Cell, list[tuple[str, tuple[object, ...]]]] = {cell: [] for cell in cells}
        for cell in cells:
            monkeypatch.setattr(cell, "statement", partial(self._statement, cell, cell.statement))

    async def count(self, cell: Cell, table: str) -> int:
        """Explain every statement again, and add up the rows that its plans take from the table."""
        asked, self._asked[cell] = self._asked[cell], []
        many = 0
        for statement, args in asked:
            [row] = await query(cell, f"explain (analyze, format json) {statement}", *args)
            many += sum(_rows_of(json.loads(row[0])[0]["Plan"], table))
        return many

    @asynccontextmanager
    async def _statement(self, cell: Cell, real: Callable[[], AbstractAsyncContextManager[Tx]]) -> AsyncIterator[Tx]:
        async with real() as tx:
            yield _RecordedTx(tx, self._asked[cell])


class _RecordedTx:
    """A transaction that records the statements that return rows."""

    def __init__(self, tx: Tx, asked: list[tuple[str, tuple[object, ...]]]) -> None:
        self._tx = tx
        self._asked = asked

    async def rows(self, statement: str, *args: object) -> list[Any]:
        self._asked.append((statement, args))
        return await self._tx.rows(statement, *args)

    async def value(self, statement: str, *args: object) -> Any:
        self._asked.append((statement, args))
        return await self._tx.value(statement, *args)


def _rows_of(plan: dict[str, Any], table: str) -> Iterator[int]:
    """The rows that each scan of the table has read."""
    if plan.get("Relation Name") == table:
        yield round((plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"])
    for part in plan.get("Plans", ()):
        yield from _rows_of(part, table)


def other_than(store: Store, cell: Cell) -> Cell:
    [other] = [one for one in store.cells if one is not cell]
    return other


async def ask_for_move(source: Cell, target: Cell, shard: int) -> Move:
    id_ = new_id(shard, source.clock.now())
    async with source.tx() as tx:
        assert await moves.request(tx, shard, id_, target.name, "test")
    return await read_move(source, Move(id_, shard, *[None] * 5))


async def read_move(cell: Cell, move: Move) -> Move:
    async with cell.statement() as tx:
        found = await moves.find(tx, move.shard, move.id)
    assert found is not None
    return found


async def run_until(source: Cell, target: Cell, move: Move, step: MoveStep) -> tuple[MoveCoordinator, Move]:
    """A coordinator that has come to a step, and has not done it."""
    one = MoveCoordinator(source, target, uuid4())
    async with source.tx() as tx:
        taken = await moves.take(tx, move, one._me, LEASE_TTL)
    while taken is not None and taken.step != step:
        taken = await one.do_step(taken)
    assert taken is not None
    return one, taken


async def lose_lease(store: Store) -> None:
    """Let the time pass after which another coordinator may take a move."""
    await move_clock(store, seconds=LEASE_TTL.total_seconds() + 1)


async def complete(store: Store, source: Cell, target: Cell, move: Move) -> Move:
    """Let a new coordinator do what is left, and also delete the rows in the source."""
    await lose_lease(store)
    one = MoveCoordinator(source, target, uuid4())
    await one.run(await read_move(source, move))
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await one.run(await read_move(source, move))
    return await read_move(source, move)


async def lose_copy(cell: Cell, shard: int) -> None:
    """What a restore to a time before the copy does to the target: the rows are gone, and all epochs are raised."""
    for table in DELETED_AFTER_MOVE:
        await query(cell, f'delete from "{table}" where {TABLE_MOVES[table].shard_column} = $1', shard)
    await query(cell, "update shard set epoch = epoch + 1000000000")


async def move_on(cell: Cell, shard: int) -> None:
    """Let a shard leave a cell for a third one, by the statements of a move."""
    me, id_ = uuid4(), new_id(shard, cell.clock.now())
    async with cell.tx() as tx:
        assert await moves.request(tx, shard, id_, "cell-3", "test")
        move = await moves.take(tx, Move(id_, shard, *[None] * 5), me, LEASE_TTL)
        move = move and await moves.advance(tx, move, me, MoveStep.FREEZE)
        move = move and await shard_states.freeze(tx, move, me, LEASE_TTL)
        move = move and await moves.advance(tx, move, me, MoveStep.ACTIVATE)
        move = move and await shard_states.leave(tx, move, me)
        assert move is not None
        await moves.advance(tx, move, me, MoveStep.DONE)


async def rows_in(cell: Cell, shard: int) -> dict[str, list[str]]:
    """Every row of a shard that a move copies, as text, by table."""
    found = {}
    for table in COPIED_IN_MOVE:
        column = TABLE_MOVES[table].shard_column
        rows = await query(cell, f'select t::text as row from "{table}" t where {column} = $1', shard)
        found[table] = sorted(row["row"] for row in rows)
    return found


async def is_empty(cell: Cell, shard: int) -> bool:
    """Whether nothing is left of what a move deletes."""
    found = await rows_in(cell, shard)
    return not any(found[table] for table in DELETED_AFTER_MOVE)


async def active_cells(store: Store, shard: int) -> list[Cell]:
    """The cells in which a shard is active: never two."""
    asked = "select from shard where shard_id = $1 and state = 'ACTIVE'"
    return [cell for cell in store.cells if await query(cell, asked, shard)]
