"""Moves shards from one cell to another, as people have requested."""

from collections.abc import Sequence
from uuid import UUID

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.moves import moves
from horae.store.protocol import CellProtocol
from horae.store.store import Store
from horae.upkeep.move_steps import MoveCoordinator


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

    async def once(self) -> int:
        """Work on every move that has not ended. Returns how many steps were done."""
        return await self._visits.each(self.store.cells, self._move_out_of)

    async def _move_out_of(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            found = await moves.unfinished(tx)
        for store in self._followed:
            store.note_left(cell.name, [move.shard for move in found if move.left_at is not None])
        done = 0
        for move in found:
            target = next((one for one in self.store.cells if one.name == move.target), None)
            if target is None or target is cell:
                log.warning("shard.move_waits", shard=move.shard, cell=cell.name, to=move.target, reason="no such cell")
                continue
            if move.id not in self._coordinators:
                self._coordinators[move.id] = MoveCoordinator(cell, target, self._incarnation, self._announce)
            done += await self._coordinators[move.id].run(move)
        left = {move.id for move in found}
        self._coordinators = {
            id_: one for id_, one in self._coordinators.items() if id_ in left or one.source is not cell
        }
        return done

    def _announce(self, cell: CellProtocol, shard: int) -> None:
        self.store.wakes.wake_all(cell, [(shard, cell.clock.now())])
