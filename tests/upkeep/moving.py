"""What tests of shard moves do: ask for a move, run it to a step, look at both cells."""

from uuid import UUID, uuid4

from horae.domain.moves.moves import ROWS_KEPT, Move, MoveStep
from horae.runtime.randomness import new_id
from horae.store.cells import Cell
from horae.store.databases.table_moves import COPIED_IN_MOVE, DELETED_AFTER_MOVE, TABLE_MOVES
from horae.store.moves import moves
from horae.store.store import Store
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
