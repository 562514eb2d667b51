"""Models of shard moves."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, StrictInt

from horae.api.models.base import Name, RequestModel, ResponseModel
from horae.domain.moves.moves import MoveStep
from horae.domain.placement import SHARDS
from horae.service.moves.moves import CellMove


class MoveAction(StrEnum):
    """Which shards are to move: the given ones, as many as make all cells even, or all of one cell."""

    MOVE = "MOVE"
    REBALANCE = "REBALANCE"
    DRAIN = "DRAIN"


class NewShardMoves(RequestModel):
    """Shards that are to move. `MOVE` needs `shards` and the `cell` they go to, `DRAIN` the `cell` they leave."""

    model_config = ConfigDict(json_schema_extra={"example": {"action": "MOVE", "shards": [17], "cell": "cell-2"}})
    action: MoveAction
    shards: Annotated[
        list[Annotated[StrictInt, Field(ge=0, lt=SHARDS)]],
        Field(max_length=SHARDS, description="The numbers of the shards that are to move."),
    ] = []
    cell: Annotated[Name | None, Field(description="The cell that the shards go to, or leave.")] = None


class ShardMoveView(ResponseModel):
    """A move of a shard: from where, to where, what is to be done next, and for how long the shard was closed."""

    shard: int
    source: str
    target: str
    step: MoveStep
    requested_by: str
    requested_at: datetime
    changed_at: datetime
    ended_at: datetime | None = None
    rows_copied: int
    pause_ms: int | None = None
    abort_requested: bool
    error: str | None = None

    @classmethod
    def of(cls, one: CellMove) -> "ShardMoveView":
        """Returns the view of a move."""
        names = set(cls.model_fields) - {"source"}
        return cls(source=one.cell, **{name: value for name, value in one.move._asdict().items() if name in names})
