"""A simulated cell: PostgreSQL that takes time, rows that are due, and the owners of shards."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from uuid import UUID

from asyncpg import PostgresConnectionError

from benchmarks.simulation.event_loop import NodeLoop
from benchmarks.simulation.kernel import Kernel
from benchmarks.simulation.processors import Processor
from benchmarks.simulation.service_times import ServiceTimes
from horae.domain.schedules.timers import Timer


class CellClock:
    """Simulated time as the product asks for it."""

    trusted = was_read = True

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def seconds(self) -> float:
        """Unix time."""
        return self._kernel.now

    def now(self) -> datetime:
        """The same as a date."""
        return datetime.fromtimestamp(self._kernel.now, UTC)


class SimulatedCell:
    """`rows` are the due times that nobody has fired or claimed yet, by shard. `owners` are the leases of its shards.

    `heard` says when each node renewed its lease last. While the cell is down, no statement succeeds.
    """

    def __init__(
        self, name: str, kernel: Kernel, processor: Processor, times: ServiceTimes, shards: Collection[int]
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.processor = processor
        self.times = times
        self.clock = CellClock(kernel)
        self.is_down = False
        self.statements = 0
        self.owners: dict[int, UUID | None] = dict.fromkeys(shards)
        self.rows: dict[int, dict[UUID, Timer]] = {shard: {} for shard in shards}
        self.failures: dict[UUID, int] = {}
        self.heard: dict[UUID, float] = {}
        self.lease_changes = 0

    @property
    def reach(self) -> "SimulatedCell":
        """The product asks `cell.reach.is_down` before it logs."""
        return self

    def write(self, timer: Timer) -> None:
        """A row is due at a time."""
        self.rows[timer.shard][timer.id] = timer

    def remove(self, timers: Iterable[Timer]) -> list[bool]:
        """Fire or claim rows; says for each whether it was still there. A row of a shard that has left is not."""
        return [(rows := self.rows.get(one.shard)) is not None and rows.pop(one.id, None) is not None for one in timers]

    def set_owner(self, shards: Iterable[int], owner: UUID | None) -> None:
        """Change the owner of shards. `lease_changes` counts it: who has seen this state need not plan again."""
        self.owners |= dict.fromkeys(shards, owner)
        self.lease_changes += 1

    def open_shard(self, shard: int) -> None:
        """A shard has moved here: it has no owner yet."""
        self.set_owner([shard], None)

    def statement(self, loop: NodeLoop, rows: float) -> "asyncio.Future[None]":
        """A statement of a node that writes so many rows: the way there, the work, the commit, and the way back."""
        future: asyncio.Future[None] = loop.create_future()
        self.statements += 1
        half_way_s = self.times.round_trip_s / 2

        def work() -> None:
            if self.is_down:
                self.kernel.after(half_way_s, loop.call_soon, fail)
                return
            needed_s = self.times.postgresql_statement_s + rows * self.times.postgresql_call_s
            self.processor.run(needed_s, commit)

        def commit() -> None:
            self.kernel.after(self.times.commit_s + half_way_s, loop.call_soon, succeed)

        def succeed() -> None:
            if self.is_down:
                fail()
            elif not future.done():
                future.set_result(None)

        def fail() -> None:
            if not future.done():
                future.set_exception(PostgresConnectionError(f"{self.name} is down"))

        self.kernel.after(half_way_s, work)
        return future

    def use_idle(self, nodes: Callable[[], int]) -> None:
        """Every second: what PostgreSQL does for nodes beside their calls."""
        if not self.is_down:
            needed_s = self.times.postgresql_base_share + self.times.postgresql_node_share * nodes()
            self.processor.run(needed_s, lambda: None)
        self.kernel.after(1.0, self.use_idle, nodes)
