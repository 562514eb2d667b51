"""The record of a move, in the cell that the shard leaves. One coordinator at a time works on it, under a lease."""

from datetime import timedelta
from uuid import UUID

import asyncpg

from horae.domain.moves.moves import Move, MoveStep
from horae.store.statements import sql
from horae.store.tx import Tx


def move_of(row: asyncpg.Record) -> Move:
    """A move from its columns."""
    move = Move(*row)
    return move._replace(step=MoveStep(move.step))


def move_or_none(row: asyncpg.Record | None) -> Move | None:
    """A move from its columns; None where a statement found no row."""
    return None if row is None else move_of(row)


async def request(tx: Tx, shard: int, id_: UUID, target: str, requested_by: str) -> bool:
    """Record a new move. False: the shard is not active here, or another move of it has not ended."""
    return await tx.value(sql("moves/moves/request"), shard, id_, target, requested_by, tx.now) is not None


async def find(tx: Tx, shard: int, id_: UUID) -> Move | None:
    """One move out of this cell."""
    return move_or_none(await tx.row(sql("moves/moves/find"), shard, id_))


async def unfinished(tx: Tx) -> list[Move]:
    """The moves out of this cell that have not ended, the oldest first."""
    return [move_of(row) for row in await tx.rows(sql("moves/moves/unfinished"))]


async def listing(tx: Tx, limit: int) -> list[Move]:
    """The moves out of this cell: those that have not ended, then the newest."""
    return [move_of(row) for row in await tx.rows(sql("moves/moves/listing"), limit)]


async def take(tx: Tx, move: Move, coordinator: UUID, ttl: timedelta) -> Move | None:
    """Become the coordinator of a move for one TTL. None: another one has it, or it has ended."""
    return move_or_none(await tx.row(sql("moves/moves/take"), move.shard, move.id, coordinator, tx.now, ttl))


async def advance(tx: Tx, move: Move, coordinator: UUID, to_step: MoveStep) -> Move | None:
    """Go on to another step. None: another coordinator has the move, or it is at another step."""
    args = (move.shard, move.id, coordinator, move.step, to_step, tx.now)
    return move_or_none(await tx.row(sql("moves/moves/advance"), *args))


async def record_target_epoch(tx: Tx, move: Move, coordinator: UUID, epoch: int) -> Move | None:
    """Record the epoch that the target gave to this coordinator. None: another coordinator has the move."""
    return move_or_none(await tx.row(sql("moves/moves/record_target_epoch"), move.shard, move.id, coordinator, epoch))


async def record_progress(
    tx: Tx, move: Move, coordinator: UUID, rows: int, error: str | None, ttl: timedelta
) -> Move | None:
    """Renew the lease, and record copied rows and what is in the way. None: another coordinator has the move."""
    args = (move.shard, move.id, coordinator, rows, error, tx.now, ttl)
    return move_or_none(await tx.row(sql("moves/moves/record_progress"), *args))


async def renew_lease(tx: Tx, move: Move, coordinator: UUID, ttl: timedelta) -> bool:
    """Renew the lease for one TTL, unless the move has gone on. False: another coordinator has the move."""
    args = (move.shard, move.id, coordinator, move.step, tx.now, ttl)
    return await tx.value(sql("moves/moves/renew_lease"), *args) is not None


async def request_abort(tx: Tx, shard: int, id_: UUID) -> Move | None:
    """Ask the coordinator to abort a move. None: there is no such move, or it has ended."""
    return move_or_none(await tx.row(sql("moves/moves/request_abort"), shard, id_))
