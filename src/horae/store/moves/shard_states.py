"""The state of a moving shard in both cells: why it is never active in two of them.

1. The source closes the shard (`freeze`) before the step `ACTIVATE` is recorded. Only then the target may open it.
2. The source opens it again (`reopen`) only at a step before `ACTIVATE`, or after the target has refused the activation
   of every coordinator (`refuse_activation`).
3. Every coordinator gets a new epoch from the target (`prepare`) before it writes or compares rows. Rows and activation
   are taken only under the newest one (`lock_target`, `activate`). So a coordinator that was stopped and wakes up later
   changes nothing, and the target opens only with the rows that were compared.
4. A transaction may have passed the fence just before the freeze and write just after it. `writers` names all of them;
   the rows are compared when they have ended.
"""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from horae.domain.moves.moves import Move, MoveStep
from horae.store.moves.moves import move_or_none
from horae.store.statements import sql
from horae.store.tx import Tx


class ShardState(NamedTuple):
    """A shard in one cell."""

    state: str
    epoch: int


async def freeze(tx: Tx, move: Move, coordinator: UUID, ttl: timedelta) -> Move | None:
    """Close the shard in the source, under a lease of one TTL from now on.

    None: another coordinator has the move, or the shard is not active here.
    """
    return move_or_none(await tx.row(sql("moves/shard_states/freeze"), move.shard, move.id, coordinator, tx.now, ttl))


async def reopen(tx: Tx, move: Move, coordinator: UUID, to_step: MoveStep) -> Move | None:
    """Open the shard in the source again, if this move closed it. None: another coordinator has the move."""
    args = (move.shard, move.id, coordinator, move.step, to_step, tx.now)
    return move_or_none(await tx.row(sql("moves/shard_states/reopen"), *args))


async def writers(tx: Tx) -> frozenset[str]:
    """The transactions of this database that may have passed the fence and have not ended."""
    return frozenset(row["id"] for row in await tx.rows(sql("moves/shard_states/writers")))


async def prepare(tx: Tx, shard: int, source_epoch: int) -> int | None:
    """Get the epoch under which a coordinator may write to the target. None: the target cannot take the shard now."""
    epoch: int | None = await tx.value(sql("moves/shard_states/prepare"), shard, source_epoch)
    return epoch


async def lock_target(tx: Tx, move: Move) -> bool:
    """Whether this coordinator may write to the target; it may until the end of the transaction."""
    return await tx.value(sql("moves/shard_states/lock_target"), move.shard, move.target_epoch) is not None


async def activate(tx: Tx, move: Move) -> bool:
    """Open the shard in the target. False: it is open already, or another coordinator has prepared the move since."""
    return await tx.value(sql("moves/shard_states/activate"), move.shard, move.target_epoch) is not None


async def refuse_activation(tx: Tx, move: Move) -> bool:
    """Let no coordinator open the shard in the target. False: this move opened it there, and it may have moved on."""
    return await tx.value(sql("moves/shard_states/refuse_activation"), move.shard, move.target_epoch) is not None


async def state(tx: Tx, shard: int) -> ShardState:
    """The state of a shard in this cell."""
    row = await tx.row(sql("moves/shard_states/state"), shard)
    assert row is not None
    return ShardState(*row)


async def leave(tx: Tx, move: Move, coordinator: UUID) -> Move | None:
    """Record in the source that the shard is active in the target. None: another coordinator has the move."""
    return move_or_none(await tx.row(sql("moves/shard_states/leave"), move.shard, move.id, coordinator, tx.now))


async def lock_source(tx: Tx, move: Move, coordinator: UUID) -> bool:
    """Whether this coordinator may delete rows in the source; it may until the end of the transaction."""
    return await tx.value(sql("moves/shard_states/lock_source"), move.shard, move.id, coordinator) is not None
