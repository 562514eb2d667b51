"""Moves shards from one cell to another, as people have requested."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.moves.moves import CLOSED, Move
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.moves import moves
from horae.store.protocol import CellProtocol
from horae.store.store import Store
from horae.upkeep.move_metrics import MoveMetrics
from horae.upkeep.move_steps import MoveCoordinator

MOVES_A_ROUND: Final = 4
"""Moves out of a cell in one round. The next round begins with shards that a dead coordinator has left closed."""


class ShardMover:
    """A duty: work on the moves out of every cell, one after another.

    `followed` are the stores that learn which shards have left a cell. Every node has this duty; the lease in the
    record lets one of them work on a move.
    """

    def __init__(self, store: Store, incarnation: UUID, followed: Sequence[Store] = ()) -> None:
        self.store = store
        self._followed = followed or [store]
        self._incarnation = incarnation
        self._coordinators: dict[UUID, MoveCoordinator] = {}
        self._visits = Visits("shardmover")
        self.metrics = MoveMetrics()

    async def once(self) -> int:
        """Work on every move that has not ended. Returns how many steps were done."""
        return await self._visits.each(self.store.cells, self._move_out_of)

    async def _move_out_of(self, cell: CellProtocol) -> int:
        self.metrics.forget(cell.name)
        async with cell.statement() as tx:
            found = await moves.unfinished(tx)
        self.metrics.see(cell.name, found)
        for store in self._followed:
            store.note_left(cell.name, [move.shard for move in found if move.left_at is not None])
        done = worked_on = 0
        for move in sorted(found, key=lambda one: one.step not in CLOSED):
            if worked_on == MOVES_A_ROUND:
                break
            target = next((one for one in self.store.cells if one.name == move.target), None)
            if target is None or target is cell:
                log.warning("shard.move_waits", shard=move.shard, cell=cell.name, to=move.target, reason="no such cell")
                continue
            if move.id not in self._coordinators:
                self._coordinators[move.id] = MoveCoordinator(
                    cell, target, self._incarnation, partial(self._announce, cell)
                )
            steps = await self._coordinators[move.id].run(move)
            done, worked_on = done + steps, worked_on + (steps > 0)
        left = {move.id for move in found}
        self._coordinators = {
            id_: one for id_, one in self._coordinators.items() if id_ in left or one.source is not cell
        }
        return done

    def _announce(self, source: CellProtocol, target: CellProtocol, move: Move) -> None:
        self.store.wakes.wake_all(target, [(move.shard, target.clock.now())])
        if move.pause_ms is not None:
            self.metrics.count_pause(source.name, move.pause_ms / 1000)
