"""Asks for moves of shards, aborts them, and shows how far they are. The nodes do the work."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from horae.domain.errors import Conflict, Invalid, NotFound, Unavailable
from horae.domain.moves.moves import Move
from horae.domain.moves.plans import PlannedMove, plan_drain, plan_rebalance
from horae.runtime.randomness import new_id
from horae.service.audit import audit
from horae.service.context import Context
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.moves import moves
from horae.store.nodes import shards
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

MAX_LISTED_MOVES: Final = 500
"""Moves of each cell that a list shows."""
MOVES_A_TRANSACTION: Final = 100


class CellMove(NamedTuple):
    """A move, and the cell that the shard leaves."""

    cell: str
    move: Move


async def listing(ctx: Context) -> list[CellMove]:
    """Returns the moves of all cells that answer: those that have not ended, then the newest."""
    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, _newest))
    ctx.cells_down.update(down)
    return [CellMove(cell.name, move) for cell, own in found.items() for move in own]


async def request_moves(ctx: Context, numbers: Collection[int], target: str) -> list[CellMove]:
    """Ask for moves of some shards to a cell. A shard that is there, or moves already, is left out."""
    held = await _held(ctx)
    _check_cell(held, target)
    planned = [
        PlannedMove(shard, cell, target)
        for cell, own in held.items()
        for shard in sorted(own.intersection(numbers))
        if cell != target
    ]
    return await _request(ctx, planned)


async def request_rebalance(ctx: Context) -> list[CellMove]:
    """Ask for the moves after which every cell holds about as many shards."""
    return await _request(ctx, plan_rebalance(await _held(ctx)))


async def request_drain(ctx: Context, cell: str) -> list[CellMove]:
    """Ask for the moves that empty a cell."""
    held = await _held(ctx)
    _check_cell(held, cell)
    if len(held) == 1:
        raise Invalid(f"{cell!r} is the only cell: its shards can go nowhere")
    return await _request(ctx, plan_drain(held, cell))


async def abort(ctx: Context, shard: int) -> CellMove:
    """Ask for the end of a shard's move. Raises Conflict if it does not move."""
    for cell in ctx.store.cells:
        async with cell.statement() as tx:
            found = [move for move in await moves.unfinished(tx) if move.shard == shard]
        if found and (asked := await cell.run(partial(_abort, ctx, found[0]))) is not None:
            return CellMove(cell.name, asked)
    raise Conflict(f"shard {shard} does not move")


async def _newest(tx: Tx) -> list[Move]:
    return await moves.listing(tx, MAX_LISTED_MOVES)


async def _held(ctx: Context) -> dict[str, frozenset[int]]:
    """Returns the shards that each cell holds. Raises if a cell does not answer: then nobody knows where to move."""
    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, shards.known_here))
    if down:
        raise Unavailable(f"{', '.join(sorted(down))} cannot be reached, and this needs every cell; ask again")
    return {cell.name: known.active for cell, known in found.items()}


def _check_cell(held: Collection[str], name: str) -> None:
    if name not in held:
        raise NotFound(f"there is no cell {name!r}")


async def _request(ctx: Context, planned: Sequence[PlannedMove]) -> list[CellMove]:
    asked = []
    by_source = sorted(planned, key=lambda one: (one.source, one.shard))
    for name, group in groupby(by_source, key=lambda one: one.source):
        [cell] = [one for one in ctx.store.cells if one.name == name]
        wanted = list(group)
        for start in range(0, len(wanted), MOVES_A_TRANSACTION):
            part = wanted[start : start + MOVES_A_TRANSACTION]
            asked += [CellMove(name, move) for move in await _request_in(ctx, cell, part)]
    return asked


async def _request_in(ctx: Context, cell: CellProtocol, planned: Sequence[PlannedMove]) -> list[Move]:
    async def work(tx: Tx) -> list[Move]:
        asked = []
        for one in planned:
            id_ = new_id(one.shard, tx.now)
            if await moves.request(tx, one.shard, id_, one.target, ctx.actor):
                await _audit(ctx, tx, "shard.move_requested", one.shard, {"from": one.source, "to": one.target})
                found = await moves.find(tx, one.shard, id_)
                assert found is not None, "it has just been written"
                asked.append(found)
        return asked

    return await cell.run(work)


async def _abort(ctx: Context, move: Move, tx: Tx) -> Move | None:
    asked = await moves.request_abort(tx, move.shard, move.id)
    if asked is not None:
        await _audit(ctx, tx, "shard.abort_requested", move.shard, {"to": move.target, "step": move.step})
    return asked


async def _audit(ctx: Context, tx: Tx, action: str, shard: int, detail: dict[str, object]) -> None:
    await audit.record(ctx, tx, action, shard, f"shard {shard}", detail)
