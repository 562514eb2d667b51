"""`horae api` as processes of their own, each on a free port, and what they need around them."""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from signal import SIGKILL

from horae.runtime.randomness import new_token
from horae.runtime.settings import CellSettings
from horae.store.nodes import leases
from horae.store.store import Store
from tests.keyring import keyring
from tests.probes import NO_PROBES
from tests.system.children import Child

SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"
LISTENS = re.compile(r"listens on http://127\.0\.0\.1:(\d+)")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG"))} | NO_PROBES


class Door(Child):
    """One process. `port` is known once it is ready."""

    port: int
    program: Sequence[str | Path] = (Path(sys.executable).parent / "horae",)

    def start(self, cells: Sequence[CellSettings], settings: dict[str, str]) -> None:
        told = {
            "HORAE_API_CELLS": json.dumps([cell.model_dump() for cell in cells]),
            "HORAE_API_SECRET": SECRET,
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(keyring()),
            "PYTHONUNBUFFERED": "1",
        }
        self.spawn([*self.program, "api", "--port", "0"], CLEAN | told | settings)

    async def ready(self, seconds: float = 300.0) -> None:
        """Wait until it says where it listens."""
        deadline = time.monotonic() + seconds
        while not (found := LISTENS.search(self.log.read_text(errors="replace"))):
            assert self.running, f"{self.name} ended:\n{self.tail()}"
            assert time.monotonic() < deadline, f"{self.name} did not open within {seconds:g} s"
            await asyncio.sleep(0.02)
        self.port = int(found[1])

    def kill(self) -> None:
        """As when the machine goes."""
        self.signal(SIGKILL)


@asynccontextmanager
async def open_doors(
    many: int, folder: Path, cells: Sequence[CellSettings], kind: type[Door] = Door, **settings: str
) -> AsyncIterator[list[Door]]:
    """So many processes while the block lasts."""
    doors = [kind(f"api-{number}", folder / f"api-{number}.log") for number in range(many)]
    try:
        for door in doors:
            door.start(cells, {f"HORAE_{name.upper()}": value for name, value in settings.items()})
        for door in doors:
            await door.ready()
        yield doors
    finally:
        for door in doors:
            door.end()


async def hold_every_shard(store: Store) -> None:
    """A living node holds every shard: what is triggered waits for somebody."""
    who = new_token()
    for cell in store.cells:
        async with cell.tx() as tx:
            await leases.heartbeat(tx, who, "n", timedelta(hours=1))
            await leases.take(tx, who, store.shards_of(cell))
