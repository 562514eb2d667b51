"""Routes of shard moves, for admins of the platform."""

from typing import Annotated

from fastapi import Path

from horae.api.models.moves import MoveAction, NewShardMoves, ShardMoveView
from horae.api.routing import may, router
from horae.domain.errors import Invalid
from horae.domain.placement import SHARDS
from horae.service.context import Context
from horae.service.moves import moves

routes = router("scheduler")


@routes.get("/shard-moves")
async def list_shard_moves(ctx: Annotated[Context, may("shards.moves")]) -> list[ShardMoveView]:
    """List the moves of shards: those that have not ended, then the newest of each cell."""
    return [ShardMoveView.of(one) for one in await moves.listing(ctx)]


@routes.post("/shard-moves")
async def request_shard_moves(ctx: Annotated[Context, may("shards.move")], asked: NewShardMoves) -> list[ShardMoveView]:
    """Ask for moves of shards to other cells. The nodes move them one after another, while their jobs fire.

    A shard that moves already is left out. The answer has the moves that were added.
    """
    if asked.action == MoveAction.REBALANCE:
        found = await moves.request_rebalance(ctx)
    elif asked.cell is None:
        raise Invalid(f"{asked.action} needs a cell")
    elif asked.action == MoveAction.DRAIN:
        found = await moves.request_drain(ctx, asked.cell)
    else:
        found = await moves.request_moves(ctx, asked.shards, asked.cell)
    return [ShardMoveView.of(one) for one in found]


@routes.post("/shard-moves/{shard}/abort")
async def abort_shard_move(
    ctx: Annotated[Context, may("shards.abort")],
    shard: Annotated[int, Path(ge=0, lt=SHARDS, description="The number of the shard.")],
) -> ShardMoveView:
    """Ask for the end of a shard's move. If the shard is active in the target already, the move is completed."""
    return ShardMoveView.of(await moves.abort(ctx, shard))
