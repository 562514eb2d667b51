"""`horae node` as it is, and a door to its inside for what no signal can do: `python -m tests.system.node`.

What may be told over the socket: `ping`, `counts`, `block` (the event loop, for so many seconds), `hold_pool` (every
connection of every cell's pool, for so many seconds), `plant` (a bug of `tests/system/planted`).
"""

import asyncio
import importlib
import os
import time
from contextlib import AsyncExitStack
from typing import Any

import uvloop

from horae.boot import serving, signals
from horae.boot.encryption import open_store
from horae.boot.secrets import secrets_of
from horae.boot.session import load
from horae.engine.node import Node
from horae.runtime import telemetry
from horae.store.cells import Cell
from horae.store.store import Store
from tests.system.door import open_door


class Inside:
    """What may be asked of a running node."""

    def __init__(self, store: Store, nodes: list[Node]) -> None:
        self.store = store
        self.nodes = nodes
        self._going: set[asyncio.Task[None]] = set()

    async def ping(self) -> dict[str, Any]:
        node = self.nodes[0] if self.nodes else None
        if node is None:
            return {"alive": False}
        held = {cell.name: len(node.leases.held_shards(cell)) for cell in self.store.cells}
        alive = all(node.leases.alive(cell) for cell in self.store.cells)
        return {"alive": alive, "held": held, "incarnation": str(node.identity.incarnation), "pid": os.getpid()}

    async def counts(self) -> dict[str, Any]:
        late = sum(post.settler.late for node in self.nodes for post in node.runners.values())
        return {"late": late, **telemetry.counts}

    async def block(self, seconds: float) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.01, time.sleep, seconds)  # after the answer is out
        return {}

    async def hold_pool(self, seconds: float) -> dict[str, Any]:
        for cell in self.store.cells:
            task = asyncio.create_task(_hold(cell, seconds))
            self._going.add(task)
            task.add_done_callback(self._going.discard)
        return {}

    async def plant(self, name: str) -> dict[str, Any]:
        plant(name)
        return {}


async def _hold(cell: Cell, seconds: float) -> None:
    """Take connection after connection until none is left, and keep them all."""
    async with AsyncExitStack() as held:
        until = time.monotonic() + seconds
        for _ in range(cell.pool.get_max_size()):
            await held.enter_async_context(cell.pool.acquire())
        await asyncio.sleep(max(0, until - time.monotonic()))


def plant(name: str) -> None:
    """Put a bug into this process."""
    importlib.import_module("tests.system.planted").plant(name)


def _watch(nodes: list[Node]) -> None:
    """Keep the node that `serving` makes, as it is."""
    make = serving.node_of

    def node_of(*args: Any) -> Node:
        nodes.append(make(*args))
        return nodes[-1]

    serving.node_of = node_of


async def main() -> None:
    """What `horae node` does, line by line, with the door open meanwhile."""
    settings = load()
    if name := os.environ.get("HORAE_PLANT"):
        plant(name)
    nodes: list[Node] = []
    _watch(nodes)
    async with open_store(settings, settings.all_cells()) as store:
        told = signals.stop_signal()
        secrets = await secrets_of(settings, store)
        door = open_door(Inside(store, nodes), os.environ["HORAE_CONTROL"])
        async with door, serving.run_node(settings, store, secrets):
            await told.wait()


if __name__ == "__main__":
    uvloop.run(main())
