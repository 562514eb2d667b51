"""Finds out whether a cell may be removed from a deployment: nothing may be in it alone."""

from collections.abc import Sequence
from functools import partial

from horae.domain.errors import NotFound, Unavailable
from horae.service.context import CallerContext
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.databases import days
from horae.store.databases.days import HISTORY, HotDay
from horae.store.moves import moves
from horae.store.nodes import shards
from horae.store.protocol import CellProtocol


async def find_obstacles(ctx: CallerContext, name: str) -> list[str]:
    """What stands against the removal of a cell, a sentence each. Raises if a cell does not answer."""
    cell = next((one for one in ctx.store.cells if one.name == name), None)
    if cell is None:
        raise NotFound(f"there is no cell {name!r}")
    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, moves.unfinished))
    if down:
        raise Unavailable(f"{', '.join(sorted(down))} cannot be reached, and this needs every cell; ask again")
    moving = sum(one.target == name or source is cell for source, own in found.items() for one in own)
    wrong = await _shards_in(cell)
    if moving:
        wrong.append(f"{moving} moves out of it or into it have not ended: look at `horae shard status`")
    async with cell.statement() as tx:
        return wrong + _days_in(await days.hot(tx))


async def _shards_in(cell: CellProtocol) -> list[str]:
    async with cell.statement() as tx:
        held = (await shards.known_here(tx)).active
    return [f"it holds {len(held)} shards: run `horae shard drain {cell.name}`"] if held else []


def _days_in(hot: Sequence[HotDay]) -> list[str]:
    history = [one.day for one in hot if one.parent == HISTORY]
    events = [one.day for one in hot if one.parent != HISTORY]
    wrong = []
    if history:
        wrong.append(f"the history of {len(history)} days, up to {history[-1]}, is neither archived nor expired")
    if events:
        wrong.append(f"the events of {len(events)} days, up to {events[-1]}, are not expired")
    return wrong
