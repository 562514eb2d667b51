"""Nodes as processes: started, killed, frozen and told things, each by its own pid."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM
from typing import Any, Self

from horae.runtime.settings import CellSettings
from tests.keyring import keyring
from tests.system.children import Child, python
from tests.system.faketime import faked, set_clock


class Told(Child):
    """A process with a door: a unix socket on which it may be told things (`tests/system/door.py`)."""

    def __init__(self, name: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(name, folder / f"{name}.log")
        self.socket = folder / f"{name}.socket"

    async def until(self, word: str, seconds: float, again: Callable[[], None] | None = None) -> dict[str, Any]:
        """Ask until it says so of itself. Where it has ended, it is started `again`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.running:
                if again is None:
                    break
                again()
            try:
                told = await self.tell("ping", patience=2)
            except (OSError, TimeoutError, EOFError):
                told = {}
            if told.get(word):
                return told
            await asyncio.sleep(0.05)
        raise TimeoutError(f"{self.name} is not {word} after {seconds:g} s:\n{self.tail()}")

    async def tell(self, do: str, *, patience: float = 30.0, **facts: Any) -> dict[str, Any]:
        """Have the process do something to itself (`tests/system/node.py` has the list), and hear what it says."""
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_unix_connection(self.socket)
            try:
                writer.write(json.dumps({"do": do, **facts}).encode() + b"\n")
                line = await reader.readline()
            finally:
                writer.close()
        if not line:
            raise EOFError(f"{self.name} hung up")
        answer: dict[str, Any] = json.loads(line)
        return answer


class LoadProcess(Told):
    """The load; `log` is the API log. `settings` are those of `tests/system/load.py`."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        super().__init__("load", folder)
        self.api_log = folder / "api.jsonl"
        self._settings = folder / "settings.json"
        self._settings.write_text(json.dumps({**settings, "log": str(self.api_log)}))

    def start(self) -> None:
        self.socket.unlink(missing_ok=True)
        self.spawn(
            python("tests.system.load", str(self._settings)),
            {**os.environ, "HORAE_KEYRING": str(keyring()), "HORAE_CONTROL": str(self.socket)},
        )

    async def ready(self, seconds: float = 60.0) -> None:
        """Wait until its jobs are made."""
        await self.until("ready", seconds)

    async def stop(self, seconds: float = 40.0) -> None:
        """Every call gets its answer; then it ends."""
        self.signal(SIGTERM)
        await self.ended(seconds)


class NodeProcess(Told):
    """`horae node` with a control socket. `env` may be changed between two starts; None takes a variable away."""

    clock_file: Path | None = None

    def __init__(self, name: str, folder: Path, cells: Sequence[tuple[str, str]], ttl: float, tenant: str) -> None:
        super().__init__(name, folder)
        self.env: dict[str, str | None] = {
            "HORAE_CELLS": json.dumps([{"name": cell, "dsn": dsn} for cell, dsn in cells]),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_TENANT": tenant,
            "HORAE_KEYRING": str(keyring()),
            "HORAE_LEASE_TTL": f"{ttl:g}",
            "HORAE_LOG_JSON": "true",
            "HORAE_GRACE": "6",
            "HORAE_MEASURES": "false",  # faults make fires late; low priority would be withheld, and seem overdue
            "HORAE_CONTROL": str(self.socket),
            "PYTHONUNBUFFERED": "1",
        }
        self.prefix: list[str] = []  # before its command, from its next start on
        self.paused = False
        self.hit_at = 0.0  # when it was last killed or frozen

    def with_clock(self) -> Self:
        """From its next start its wall clock can be moved."""
        self.clock_file = self.log.with_suffix(".clock")
        self.env |= faked(self.clock_file)
        self.move_clock("+0")
        return self

    def move_clock(self, by: str) -> None:
        """As libfaketime says it: "+1h", "-10m", "+0 x1.1"."""
        assert self.clock_file is not None, f"{self.name} was made without a clock of its own"
        set_clock(self.clock_file, by)

    def start(self) -> None:
        """Start it, after its end as well; `ready` waits until it serves."""
        self.socket.unlink(missing_ok=True)
        self.paused = False
        merged = {name: value for name, value in {**os.environ, **self.env}.items() if value is not None}
        self.spawn([*self.prefix, *python("tests.system.node")], merged)

    def kill(self) -> None:
        """As when the machine goes: nothing is handed back."""
        self.hit_at = time.time()
        self.signal(SIGKILL)

    def pause(self) -> None:
        self.hit_at = time.time()
        self.signal(SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        self.signal(SIGCONT)
        self.paused = False

    def terminate(self) -> None:
        """Asked to end: it hands its shards back and lets what is in flight end."""
        self.signal(SIGTERM)

    async def ready(self, seconds: float = 30.0) -> dict[str, Any]:
        """Wait until it serves and holds a lease in every cell. One that could not start is started again."""
        return await self.until("alive", seconds, again=self.start)


@contextmanager
def node_processes(
    many: int, folder: Path, cells: Sequence[CellSettings], ttl: float, tenant: str = "acme"
) -> Iterator[list[NodeProcess]]:
    """So many nodes of these cells, started; they end with this."""
    places = [(cell.name, cell.dsn) for cell in cells]
    nodes = [NodeProcess(f"node-{n}", folder, places, ttl, tenant) for n in range(many)]
    try:
        for node in nodes:
            node.start()
        yield nodes
    finally:
        for node in nodes:
            node.end()
