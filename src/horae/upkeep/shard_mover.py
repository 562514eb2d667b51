"""Moves shards from one cell to another, as people have requested."""

from collections.abc import Sequence
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.moves.moves import CLOSED, Move, MoveStep
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.moves import moves
from horae.store.protocol import CellProtocol
from horae.store.store import Store
from horae.upkeep.move_metrics import MoveMetrics
from horae.upkeep.move_steps import MoveCoordinator

MOVES_A_ROUND: Final = 4
"""Moves out of a cell in one round. The next round begins with shards that a dead coordinator has left closed."""
CLOSED_LOOK_INTERVAL_S: Final = 1.0
"""After a visit that ends later than this, shards that a dead coordinator has left closed meanwhile come next."""
WAIT_FOR_TARGET: Final = frozenset({MoveStep.COPY, MoveStep.FREEZE, MoveStep.ACTIVATE, MoveStep.CLEAN})
"""Steps that change nothing while the target does not answer. In others a shard may have to be opened again."""


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
        """One round: first the moves whose shard is closed, then some others. Between these, the closed ones again."""
        found = await self._unfinished(cell)
        tried: set[str] = set()
        done, worked_on = await self._visit_closed(cell, found, tried), 0
        looked_at = boottime()
        for move in found:
            if worked_on >= MOVES_A_ROUND:
                break
            if move.step in CLOSED:
                continue
            steps = await self._visit(cell, move, tried)
            done, worked_on = done + steps, worked_on + (steps > 0)
            if boottime() - looked_at >= CLOSED_LOOK_INTERVAL_S:
                done += await self._visit_closed(cell, await self._unfinished(cell), tried)
                looked_at = boottime()
        left = {move.id for move in found}
        self._coordinators = {
            id_: one for id_, one in self._coordinators.items() if id_ in left or one.source is not cell
        }
        return done

    async def _unfinished(self, cell: CellProtocol) -> list[Move]:
        """The moves out of a cell. The stores learn which shards have left it."""
        self.metrics.forget(cell.name)
        async with cell.statement() as tx:
            found = await moves.unfinished(tx)
        self.metrics.see(cell.name, found)
        for store in self._followed:
            store.note_left(cell.name, [move.shard for move in found if move.left_at is not None])
        return found

    async def _visit_closed(self, cell: CellProtocol, found: Sequence[Move], tried: set[str]) -> int:
        return sum([await self._visit(cell, move, tried) for move in found if move.step in CLOSED])

    async def _visit(self, cell: CellProtocol, move: Move, tried: set[str]) -> int:
        """Let a coordinator do steps of a move. Returns how many.

        `tried` are the targets of this round: one that is down is not waited for again by moves that can do nothing
        without it.
        """
        target = next((one for one in self.store.cells if one.name == move.target), None)
        if target is None or target is cell:
            log.warning("shard.move_waits", shard=move.shard, cell=cell.name, to=move.target, reason="no such cell")
            return 0
        if target.reach.is_down and target.name in tried and move.step in WAIT_FOR_TARGET and not move.must_abort:
            return 0
        tried.add(target.name)
        if move.id not in self._coordinators:
            self._coordinators[move.id] = MoveCoordinator(
                cell, target, self._incarnation, partial(self._announce, cell)
            )
        return await self._coordinators[move.id].run(move)

    def _announce(self, source: CellProtocol, target: CellProtocol, move: Move) -> None:
        self.store.wakes.wake_all(target, [(move.shard, target.clock.now())])
        if move.pause_ms is not None:
            self.metrics.count_pause(source.name, move.pause_ms / 1000)
