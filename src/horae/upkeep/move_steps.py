"""The coordinator of a move: does its steps one after another, and can stop after any of them.

Every step may be done twice: a coordinator that was killed is followed by another one, which begins with the step that
the record names. `horae.store.moves.shard_states` says why the shard is never active in two cells.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from horae.domain.errors import Unfit
from horae.domain.moves.moves import CLOSED, FROZEN, MAX_PAUSE, ROWS_KEPT, WIDEST_PAUSE, Move, MoveStep
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import UNSERVED
from horae.store.databases.table_moves import DELETED_AFTER_MOVE
from horae.store.moves import moved_rows, moves, shard_states
from horae.store.moves.moved_rows import MovedTable
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx
from horae.upkeep.move_lease import MoveLease
from horae.upkeep.move_rows import PAGE, MovedRows, TargetLostError

LEASE_TTL: Final = timedelta(seconds=15)
"""How long a coordinator has a move without renewing its lease."""
CLOSED_LEASE_TTL: Final = timedelta(seconds=2)
"""The same while the shard is closed: nobody can use it until a coordinator that died is followed by another one."""
FEW_ROWS: Final = 100
"""A shard is frozen when a comparison found no more differences than this."""
MAX_COMPARISONS: Final = 10
"""Comparisons while the shard is active, after which it is frozen however many rows differ."""
WRITER_WAIT_S: Final = 2.0
"""Seconds to wait for running transactions before the freeze. A longer one postpones the freeze, not the writers."""
WRITER_LOOK_INTERVAL_S: Final = 0.005
STOPPED_BY: Final[tuple[type[Exception], ...]] = (*UNSERVED, Unfit, TargetLostError)
"""Errors after which a coordinator stops for now. A later round tries the same step again."""
Result = TypeVar("Result")
Announce = Callable[[CellProtocol, Move], None]
"""Tells the nodes of the target that the shard has become active there, so that one of them takes it at once."""
Next = Move | None
"""The move at its next step; None where this coordinator has to stop for now."""


class MoveCoordinator:
    """One coordinator of one move, from a source to a target cell."""

    def __init__(
        self, source: CellProtocol, target: CellProtocol, coordinator: UUID, announce: Announce = lambda *_: None
    ) -> None:
        self.source = source
        self._announce = announce
        self._target = target
        self._me = coordinator
        self._rows: MovedRows | None = None
        self._lease = MoveLease(source, coordinator)
        self._max_pause = MAX_PAUSE
        self._own_epoch: int | None = None
        """The epoch that the target gave to this coordinator, which alone writes under it."""
        self._steps: dict[MoveStep, Callable[[Move], Awaitable[Next]]] = {
            MoveStep.COPY: self.copy,
            MoveStep.FREEZE: self.freeze,
            MoveStep.WAIT: self.wait,
            MoveStep.CATCH_UP: self.catch_up,
            MoveStep.COMPARE: self.compare,
            MoveStep.ACTIVATE: self.activate,
            MoveStep.DELETE: self.delete,
            MoveStep.CLEAN: self.clean,
        }

    async def run(self, move: Move) -> int:
        """Do steps until the move has ended, has to wait, or another coordinator has it. Returns how many were done."""
        current = await self._in_source(lambda tx: moves.take(tx, move, self._me, _lease_of(move)))
        self._lease.note(_lease_of(move))
        done = 0
        while current is not None and current.step in self._steps:
            at = current
            try:
                current = await self._lease.hold(
                    at, _lease_of(at), partial(self.do_step, at), partial(self._may_last, at)
                )
            except STOPPED_BY as error:
                await self._give_way(at, error)
                return done
            done += current is not None
        return done

    async def do_step(self, move: Move) -> Next:
        """Do the next step. Abort the move if somebody asked for it; open a shard again that is closed for too long."""
        if move.must_abort and (aborted := await self._abort(move)) is not None:
            return aborted
        if not self._may_last(move):
            self._max_pause = min(2 * self._max_pause, WIDEST_PAUSE)  # the same time would not be enough again
            return await self._reopen(move, MoveStep.COPY)
        return await self._steps[move.step](move)

    async def copy(self, move: Move) -> Next:
        """Copy all rows while the shard is active; then copy differences until there are few."""
        move = await self._prepare(move)
        rows = await self._moved_rows()
        move = await self._record(move, await rows.copy_all(move))
        for number in range(MAX_COMPARISONS):
            different = await rows.copy_differences(move)
            move = await self._record(move, different)
            if (different <= FEW_ROWS and number > 0) or move.must_abort:  # the first one reads all rows: it lasts
                break
        if not await self._writers_end(WRITER_WAIT_S):
            await self._record(move, 0, "a transaction in the source writes for too long; the freeze waits for it")
            return None
        return await self._advance(move, MoveStep.FREEZE)

    async def freeze(self, move: Move) -> Next:
        """Close the shard in the source."""
        closed = await self._in_source(lambda tx: shard_states.freeze(tx, move, self._me, CLOSED_LEASE_TTL))
        self._lease.note(CLOSED_LEASE_TTL)
        return closed

    async def wait(self, move: Move) -> Next:
        """Wait for every transaction that may have passed the fence before the freeze."""
        if not await self._writers_end(MAX_PAUSE.total_seconds()):
            return await self._reopen(move, MoveStep.COPY)
        return await self._advance(move, MoveStep.CATCH_UP)

    async def catch_up(self, move: Move) -> Next:
        """Copy what changed since the last comparison. Nothing can change any more."""
        move = await self._prepare(move)
        rows = await self._moved_rows()
        await rows.raise_widenings()
        await rows.copy_differences(move)
        return await self._advance(move, MoveStep.COMPARE)

    async def compare(self, move: Move) -> Next:
        """Compare the keys of all rows, and again the rows that changed."""
        move = await self._prepare(move)
        rows = await self._moved_rows()
        if await rows.are_equal(move):
            return await self._advance(move, MoveStep.ACTIVATE)
        return await self._advance(move, MoveStep.CATCH_UP)

    async def activate(self, move: Move) -> Next:
        """Open the shard in the target, then record in the source that it has left.

        The target opens the shard only under the epoch under which the rows were compared. Where it does not know this
        epoch, it was restored or prepared since: then everything is copied and compared again.
        """
        if not await self._in_target(lambda tx: shard_states.activate(tx, move)):
            move = await self._record(move, 0)  # a coordinator that lost the move refuses nothing
            if await self._in_target(lambda tx: shard_states.refuse_activation(tx, move)):
                return await self._compare_again(move)
        left = await self._in_source(lambda tx: shard_states.leave(tx, move, self._me))
        if left is not None:
            self._announce(self._target, left)
            log.info("shard.moved", shard=move.shard, cell=self.source.name, to=move.target, pause_ms=left.pause_ms)
        return left

    async def delete(self, move: Move) -> Next:
        """Delete the rows in the source, some time after the shard has left."""
        if self.source.clock.now() < move.changed_at + ROWS_KEPT:
            return None
        await self._remove_rows(move, self.source, lambda tx: shard_states.lock_source(tx, move, self._me))
        return await self._advance(move, MoveStep.DONE)

    async def clean(self, move: Move) -> Next:
        """Delete the rows that an aborted move left in the target."""
        move = await self._prepare(move)
        await self._remove_rows(move, self._target, lambda tx: shard_states.lock_target(tx, move))
        return await self._advance(move, MoveStep.ABORTED)

    async def _remove_rows(self, move: Move, cell: CellProtocol, lock: Callable[[Tx], Awaitable[bool]]) -> None:
        """Delete the rows of the shard in a cell, page by page. `lock` says whether this coordinator may."""

        async def remove_page(table: MovedTable, tx: Tx) -> int:
            if not await lock(tx):
                raise TargetLostError(f"shard {move.shard} has another coordinator")
            return await moved_rows.remove_page(tx, table, move.shard, PAGE)

        for table in await self._deleted_tables(cell):
            while await cell.run(partial(remove_page, table)) == PAGE:
                await self._record(move, 0)

    async def _abort(self, move: Move) -> Next:
        """Open the shard in the source again. None: the target is active already, so the move goes on."""
        if move.step == MoveStep.ACTIVATE and not await self._in_target(
            lambda tx: shard_states.refuse_activation(tx, move)
        ):
            return None
        self._forget_target()
        log.info("shard.move_aborted", shard=move.shard, cell=self.source.name, to=move.target, step=move.step)
        return await self._reopen(move, MoveStep.CLEAN)

    async def _compare_again(self, move: Move) -> Next:
        """Forget what was compared. The target has refused to open the shard under the epoch of that comparison."""
        self._forget_target()
        reason = f"{move.target} has lost what was compared: everything is copied and compared again"
        log.warning("shard.move_waits", shard=move.shard, cell=self.source.name, to=move.target, reason=reason)
        return await self._advance(move, MoveStep.CATCH_UP)

    def _forget_target(self) -> None:
        """Ask the target for a new epoch before the next write, and compare all rows."""
        self._own_epoch = None
        self._rows = None

    async def _give_way(self, move: Move, error: Exception) -> None:
        """Record what is in the way. A shard that is closed for too long is opened again, where that is safe."""
        self._forget_target()  # another coordinator may have prepared it since, and written to it
        reason = str(error) or type(error).__name__
        log.warning("shard.move_waits", shard=move.shard, cell=self.source.name, to=move.target, reason=reason[:500])
        if move.step in FROZEN and self._pause(move) > MAX_PAUSE:
            await self._reopen(move, MoveStep.COPY)
        ttl = _lease_of(move)
        await self._in_source(lambda tx: moves.record_progress(tx, move, self._me, 0, reason[:500], ttl))

    async def _prepare(self, move: Move) -> Move:
        """Get an epoch from the target. Every earlier coordinator is refused there from now on.

        It is asked for once, and again when another coordinator had the move meanwhile: then the record has its epoch.
        """
        if self._own_epoch is not None and self._own_epoch == move.target_epoch:
            return move
        self._forget_target()
        here = await self._in_source(lambda tx: shard_states.state(tx, move.shard))
        epoch = await self._in_target(lambda tx: shard_states.prepare(tx, move.shard, here.epoch))
        if epoch is None:
            raise Unfit(f"{move.target} cannot take shard {move.shard}: an earlier move out of it has not ended")
        prepared = await self._in_source(lambda tx: moves.record_target_epoch(tx, move, self._me, epoch))
        if prepared is None:
            raise TargetLostError(f"shard {move.shard} has another coordinator")
        self._own_epoch = epoch
        return prepared

    async def _moved_rows(self) -> MovedRows:
        if self._rows is None:
            self._rows = await MovedRows.of(self.source, self._target)
        return self._rows

    async def _writers_end(self, seconds: float) -> bool:
        """Whether every transaction ends in time that may have passed the fence before now."""
        until = boottime() + seconds
        left = await self._in_source(shard_states.writers)
        while left and boottime() < until:
            await asyncio.sleep(WRITER_LOOK_INTERVAL_S)
            left &= await self._in_source(shard_states.writers)
        return not left

    async def _deleted_tables(self, cell: CellProtocol) -> list[MovedTable]:
        async with cell.statement() as tx:
            return [table for table in await moved_rows.columns(tx) if table.name in DELETED_AFTER_MOVE]

    async def _reopen(self, move: Move, step: MoveStep) -> Next:
        return await self._in_source(lambda tx: shard_states.reopen(tx, move, self._me, step))

    async def _advance(self, move: Move, step: MoveStep) -> Next:
        return await self._in_source(lambda tx: moves.advance(tx, move, self._me, step))

    async def _record(self, move: Move, rows: int, error: str | None = None) -> Move:
        ttl = _lease_of(move)
        kept = await self._in_source(lambda tx: moves.record_progress(tx, move, self._me, rows, error, ttl))
        if kept is None:
            raise TargetLostError(f"shard {move.shard} has another coordinator")
        return kept

    def _may_last(self, move: Move) -> bool:
        """Whether the shard may stay as it is during this step: it may not be closed for too long."""
        return move.step not in FROZEN or self._pause(move) <= self._max_pause

    def _pause(self, move: Move) -> timedelta:
        """How long the shard has been closed."""
        return timedelta() if move.frozen_at is None else self.source.clock.now() - move.frozen_at

    async def _in_source(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        return await self.source.run(work)

    async def _in_target(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        return await self._target.run(work)


def _lease_of(move: Move) -> timedelta:
    """For how long a coordinator may have a move at this step."""
    return CLOSED_LEASE_TTL if move.step in CLOSED else LEASE_TTL
