"""One tenant's fires over 2, 3 and 8 `horae node` processes, counted at the receiver, which knows callers by port.

The tenant is made as `horae tenant create` makes it. The system says which process has which port open.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from benchmarks import psql
from benchmarks.data import TARGET_PORT
from benchmarks.nodes import node
from benchmarks.server import SETTINGS, Server, running
from benchmarks.target import Connection, Seen
from horae.domain.jobs.jobs import Definition
from horae.domain.placement import DEFAULT_WIDTH
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.tasks.batches import LARGEST, TaskIntent, schedule_many
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store

NODES: Final = (2, 3, 8)
KEYS: Final = 4_000
DATABASE: Final = "bench_spread"
LEAD_S: Final = 3.0
MOST_UNEVEN: Final = 0.2
MOST_UNKNOWN: Final = 0.01


class Receiver:
    """Counts calls by the port they came from, in a thread of its own."""

    def __init__(self) -> None:
        self.seen: dict[int, Seen] = {}

    def visit(self) -> Connection:
        """A connection that is counted by itself."""
        return _Visit(self)

    def calls(self) -> Counter[int]:
        """How many came from which port so far."""
        return Counter({port: len(seen.at) for port, seen in dict(self.seen).items()})


class _Visit(Connection):
    def __init__(self, receiver: Receiver) -> None:
        super().__init__(Seen())
        self.receiver = receiver

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.receiver.seen[transport.get_extra_info("peername")[1]] = self.seen


@contextmanager
def receiving() -> Iterator[Receiver]:
    """The receiver, until the end of the block."""
    receiver, loop = Receiver(), asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(receiver.visit, "127.0.0.1", TARGET_PORT, backlog=4096))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def ports_of(pids: Sequence[int]) -> dict[int, int]:
    """Which process has which port open towards the receiver."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {row[9]: int(row[1][-4:], 16) for row in rows if int(row[2][-4:], 16) == TARGET_PORT}
    found = {}
    for pid in pids:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            try:
                link = str(file.readlink())
            except FileNotFoundError:
                continue
            if link.startswith("socket:[") and link[8:-1] in ports:
                found[ports[link[8:-1]]] = pid
    return found


async def prepare(cell: CellSettings) -> None:
    """A tenant with the default width, and a type."""
    async with Store.of([cell]) as store:
        ctx = Context.of(store, await tenants.create(PlatformContext(store, "bench"), "default"), "bench")
        target = HttpTarget(f"http://127.0.0.1:{TARGET_PORT}/")
        await jobs.create(ctx, "T", Definition(trigger=KeyedTrigger(), target=target))


async def schedule(cell: CellSettings, name: str) -> None:
    """Keys that were never used, all due a little later, over a second."""
    async with Store.of([cell]) as store:
        ctx = Context.of(store, await tenants.find(store, "default"), "bench")
        at = datetime.now(UTC) + timedelta(seconds=LEAD_S)
        for first in range(0, KEYS, LARGEST):
            part = range(first, min(KEYS, first + LARGEST))
            await schedule_many(ctx, "T", [TaskIntent(f"{name}-{n}", at + timedelta(seconds=n / KEYS)) for n in part])


def settle(server: Server, number: int) -> None:
    """Wait until so many nodes hold equal parts of all shards."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        held = psql.value(server, DATABASE, "select owner, count(*) from shard where owner is not null group by 1")
        parts = [int(line.split("|")[1]) for line in held.splitlines()]
        if len(parts) == number and sum(parts) == 4096 and max(parts) - min(parts) <= 1:
            return
        time.sleep(0.5)
    raise RuntimeError(f"{number} nodes did not come to share the shards")


def shares(server: Server, cell: CellSettings, number: int) -> dict[str, Any]:
    """The part of each node in the fires of one tenant."""
    with receiving() as receiver, ExitStack() as nodes:
        pids = [nodes.enter_context(node(server, DATABASE)).pid for _ in range(number)]
        settle(server, number)
        asyncio.run(schedule(cell, f"of-{number}"))
        known: dict[int, int] = {}
        deadline = time.monotonic() + 60
        while receiver.calls().total() < KEYS and time.monotonic() < deadline:
            known |= ports_of(pids)
            time.sleep(0.2)
        known |= ports_of(pids)
        fires: Counter[int] = Counter()
        for port, many in receiver.calls().items():
            fires[known.get(port, 0)] += many
    whole, even = fires.total(), fires.total() / number
    parts = sorted(fires[pid] for pid in pids)
    return {
        "fires": whole,
        "of_unknown_caller": fires[0],
        "shares": [round(part / max(1, whole), 4) for part in parts],
        "most_uneven": round(max(abs(part - even) for part in parts) / max(1, even), 4),
    }


def main(seconds: float) -> dict[str, Any]:
    """Every number of nodes; `seconds` does not matter, the fires are counted."""
    del seconds
    with running() as server:
        psql.run(server, "postgres", f"drop database if exists {DATABASE} with (force)", f"create database {DATABASE}")
        cell = CellSettings(name=DATABASE, dsn=server.dsn(DATABASE))
        asyncio.run(migrations.migrate([cell], "test"))
        asyncio.run(prepare(cell))
        found = {f"nodes_{number}": shares(server, cell, number) for number in NODES}
    ok = all(
        one["fires"] >= KEYS
        and one["most_uneven"] <= MOST_UNEVEN
        and one["of_unknown_caller"] <= MOST_UNKNOWN * one["fires"]
        for one in found.values()
    )
    return {"settings": {"width": DEFAULT_WIDTH, "keys": KEYS, "postgresql": SETTINGS}, **found, "ok": ok}
