"""`horae api` and `horae node` as processes over the cells of a test, with a keyring and a log of their own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable
from pathlib import Path
from typing import NamedTuple

import httpx2

from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from tests.api.api_servers import Door
from tests.store.walls import as_role
from tests.system.children import Child

BIN = Path(sys.executable).parent


class Node(Child):
    """`horae node`."""

    def start(self, cells: Sequence[CellSettings], ring: Path, **settings: str) -> None:
        told = {
            "HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells]),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(ring),
            "HORAE_LOG_LEVEL": "DEBUG",
            "HORAE_GRACE": "5",
            "PYTHONUNBUFFERED": "1",
        }
        self.spawn([BIN / "horae", "node"], os.environ | told | settings)


class Fleet(NamedTuple):
    """What runs, and an admin's way in."""

    door: Door
    node: Node
    admin: httpx2.AsyncClient
    key: str

    def logs(self) -> str:
        """Everything that they said so far."""
        return "\n".join(one.log.read_text(errors="replace") for one in (self.door, self.node))


@asynccontextmanager
async def a_fleet(ctx: Context, cells: Sequence[CellSettings], folder: Path, ring: Path) -> AsyncIterator[Fleet]:
    """One door with the role of doors and one node with the role of nodes, until the end of the block."""
    door, node = Door("api", folder / "api.log"), Node("node", folder / "node.log")
    key = (await api_keys.create(ctx, "fleet", [Role.ADMIN])).text
    try:
        door.start(as_role(cells, "horae_api"), {"HORAE_KEYRING": str(ring), "HORAE_LOG_LEVEL": "DEBUG"})
        node.start(cells, ring)
        await door.ready()
        base, headers = f"http://127.0.0.1:{door.port}/api/v1", {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=60) as admin:
            yield Fleet(door, node, admin, key)
    finally:
        for one in (door, node):
            one.signal(15)
        for one in (door, node):
            one.wait(60)


async def until(what: str, so: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait on a condition."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (await found if isawaitable(found := so()) else found):
        assert asyncio.get_running_loop().time() < deadline, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(0.05)
