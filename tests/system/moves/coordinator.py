"""A coordinator as a process of its own, which meets its fault at one step: `python -m tests.system.moves.coordinator`.

It asks for the move and takes it in one transaction, so that no node takes it first. At the step of its fault it is
killed, or it waits until the test has killed a cluster. It ends when it is killed or the move has ended.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from signal import SIGKILL
from typing import Any
from uuid import UUID, uuid4

from horae.domain.moves.moves import ENDED, Move, MoveStep
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.store.cells import Cell
from horae.store.connections.each_cell import UNSERVED
from horae.store.moves import moves
from horae.store.store import Store
from horae.upkeep.move_steps import LEASE_TTL, MoveCoordinator, Next

LOOK_INTERVAL_S = 0.05
RETRY_INTERVAL_S = 0.5


class FaultyCoordinator(MoveCoordinator):
    """Strikes once, at the first time that it comes to the step.

    `transactions` says in which transaction of the step it is killed; None: it waits for the test.
    """

    def __init__(self, source: Cell, target: Cell, me: UUID, fault: dict[str, Any], folder: Path) -> None:
        super().__init__(source, target, me)
        self._step = MoveStep(fault["step"])
        self._left: int | None = fault["transactions"]
        self._folder = folder
        self._is_in_step = False
        self._has_waited = False

    async def do_step(self, move: Move) -> Next:
        if move.step != self._step:
            return await super().do_step(move)
        if self._left is None:
            await self._wait_for_the_test()
            return await super().do_step(move)
        self._is_in_step = True
        self._count()
        done = await super().do_step(move)
        if done is not None:
            os.kill(os.getpid(), SIGKILL)
        return done

    async def _in_source(self, work: Any) -> Any:
        done = await super()._in_source(work)
        self._count()
        return done

    async def _in_target(self, work: Any) -> Any:
        done = await super()._in_target(work)
        self._count()
        return done

    def _count(self) -> None:
        if self._is_in_step and self._left is not None:
            self._left -= 1
            if self._left < 0:
                os.kill(os.getpid(), SIGKILL)

    async def _wait_for_the_test(self) -> None:
        if not self._has_waited:
            self._has_waited = True
            (self._folder / "at").touch()
            while not (self._folder / "go").exists():
                await asyncio.sleep(LOOK_INTERVAL_S)


async def _begin(source: Cell, target: Cell, shard: int, me: UUID) -> Move:
    id_ = new_id(shard, source.clock.now())
    async with source.tx() as tx:
        assert await moves.request(tx, shard, id_, target.name, "test")
        asked = await moves.find(tx, shard, id_)
        assert asked is not None
        taken = await moves.take(tx, asked, me, LEASE_TTL)
    assert taken is not None
    return taken


async def main(folder: Path) -> None:
    """Ask for the move, and do its steps until it has ended."""
    plan = json.loads((folder / "plan.json").read_text())
    cells = [CellSettings(**cell) for cell in plan["cells"]]
    me = uuid4()
    async with Store.of(cells) as store:
        by_name = {cell.name: cell for cell in store.cells}
        source, target = by_name[plan["source"]], by_name[plan["target"]]
        move: Move | None = await _begin(source, target, plan["shard"], me)
        one = FaultyCoordinator(source, target, me, plan["fault"], folder)
        while move is not None and move.step not in ENDED:
            try:
                await one.run(move)
                async with source.statement() as tx:
                    move = await moves.find(tx, move.shard, move.id)
            except UNSERVED:
                pass
            await asyncio.sleep(RETRY_INTERVAL_S)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
