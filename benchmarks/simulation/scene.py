"""A deployment in simulated time: cells, nodes, targets and load, and what happens to them."""

import gc
import random
from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from benchmarks.measure import percentile
from benchmarks.simulation.calls import retried_at_once
from benchmarks.simulation.cells import SimulatedCell
from benchmarks.simulation.event_loop import NodeLoop
from benchmarks.simulation.kernel import Kernel
from benchmarks.simulation.load import Fires, Stream
from benchmarks.simulation.nodes import SimulatedNode
from benchmarks.simulation.processors import OwnCore, SharedCores
from benchmarks.simulation.service_times import ServiceTimes
from benchmarks.simulation.targets import SimulatedTargets, Trouble
from horae.domain.nodes.leases import allotment
from horae.domain.placement import SHARDS, deal_to_cells
from horae.domain.schedules.timers import Timer
from horae.runtime import randomness

START: Final = 1_000_000.0
"""The simulated Unix time at which a run begins: fires are due from here on."""
LEAD_S: Final = 3.0
"""Seconds before the first fire in which nodes start."""
FEED_INTERVAL_S: Final = 0.5
AHEAD_S: Final = 1.0
"""How long before they are due rows are read, at least."""
SEED: Final = 23


@dataclass(frozen=True)
class Plan:
    """What is simulated. `cores_of_cell`: for the PostgreSQL of each cell. `shared_cores`: everything on one machine.

    `troubles` are targets in trouble by their URL. `answer_s` is how long a healthy target takes.
    """

    cells: int
    nodes: int
    streams: Sequence[Stream]
    seconds: float
    cores_of_cell: int = 2
    shared_cores: int | None = None
    answer_s: float = 0.01
    troubles: Mapping[str, Trouble] = field(default_factory=dict)


class Arrivals:
    """Every first attempt as its target saw it: when it was due, how late it was, its stream and its shard."""

    def __init__(self) -> None:
        self.due_s = array("d")
        self.late_ms = array("f")
        self.streams = array("B")
        self.shards = array("H")
        self.repeated = self.succeeded = self.dead = 0
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self.due_s)

    def note_arrival(self, timer: Timer, at: float) -> None:
        """A call has arrived at its target."""
        number = cast("int", timer.id)
        if number in self._seen:
            self.repeated += 1
            return
        self._seen.add(number)
        due = timer.at.timestamp()
        self.due_s.append(due - START)
        self.late_ms.append(max(0.0, at - due) * 1000)
        self.streams.append((number >> 64) - 1)
        self.shards.append(timer.shard)

    def note_end(self, *, success: bool) -> None:
        """An instance has ended."""
        if success:
            self.succeeded += 1
        else:
            self.dead += 1

    def count_until(self, second: float) -> int:
        """How many calls arrived before this second of the run."""
        return sum(1 for due, late in zip(self.due_s, self.late_ms, strict=True) if due + late / 1000 < second)

    def late_between(
        self, begin_s: float, end_s: float, *, stream: int | None = None, shards: Container[int] | None = None
    ) -> list[float]:
        """The lateness of the calls that were due between two seconds, in milliseconds: of a stream, of shards."""
        return [
            late
            for due, late, own, shard in zip(self.due_s, self.late_ms, self.streams, self.shards, strict=True)
            if begin_s <= due < end_s and (stream is None or own == stream) and (shards is None or shard in shards)
        ]


class Scene:
    """The parts of a run. Everything is settled at the beginning: each node holds its part of every cell."""

    def __init__(self, plan: Plan, times: ServiceTimes) -> None:
        self.plan, self.times = plan, times
        self.kernel = Kernel(START - LEAD_S)
        self.arrivals = Arrivals()
        self.offered = 0
        self.counted_s = [0.0, 0.0]
        machine = None if plan.shared_cores is None else SharedCores(self.kernel, plan.shared_cores)
        self._machine = machine
        self.fires = [Fires(stream, number) for number, stream in enumerate(plan.streams)]
        self.jobs = {fires.job(shard).id: fires.job(shard) for fires in self.fires for shard in range(SHARDS)}
        self.cells = [
            SimulatedCell(f"cell-{number + 1}", self.kernel, machine or self._cores(), times, shards)
            for number, shards in enumerate(deal_to_cells(plan.cells))
        ]
        self.home = {shard: cell for cell in self.cells for shard in cell.owners}
        receiver = None if machine is None else NodeLoop(self.kernel, machine)
        troubles = {
            url: one._replace(begin=START + one.begin, end=START + one.end) for url, one in plan.troubles.items()
        }
        self.targets = SimulatedTargets(plan.answer_s, troubles, receiver, times.target_s)
        self.nodes: list[SimulatedNode] = []
        for _ in range(plan.nodes):
            self._add_node()
        self._deal()
        for cell in self.cells:
            self.kernel.after(randomness.fraction(), cell.use_idle, lambda: len(self.nodes))
        self.kernel.after(0.0, self._feed)

    def run_until(self, second: float) -> None:
        """Run up to a second of the run."""
        self.kernel.run_until(START + second)

    def close(self) -> None:
        """End the run: drop what is unfinished."""
        for node in self.nodes:
            node.loop.stop()

    def count_between(self, begin_s: float, end_s: float) -> None:
        """Count the processor time between two seconds of the run, in `counted_s`."""
        self.kernel.at(START + begin_s, self._count, -1)
        self.kernel.at(START + end_s, self._count, 1)

    def _count(self, sign: int) -> None:
        self.counted_s = [so_far + sign * now for so_far, now in zip(self.counted_s, self.processor_s(), strict=True)]

    def processor_s(self) -> tuple[float, float]:
        """Core-seconds of all nodes, and of all cells, so far; both are the machine's where they share one."""
        nodes = {id(node.loop.processor): node.loop.processor.busy_s for node in self.nodes}
        cells = {id(cell.processor): cell.processor.busy_s for cell in self.cells}
        return sum(nodes.values()), sum(cells.values())

    def lose_cell(self, number: int) -> None:
        """A cell does not answer any more."""
        self.cells[number].is_down = True

    def return_cell(self, number: int) -> None:
        """A lost cell answers again: its rows are read again."""
        cell = self.cells[number]
        cell.is_down = False
        for node in self.nodes:
            node.runners[cell.name].read_again()

    def kill_node(self, number: int) -> None:
        """A node is gone without a word. Its calls in flight are due again; who inherits its shards finds them."""
        node = self.nodes.pop(number)
        node.loop.stop()
        for runner in node.runners.values():
            for timer in retried_at_once(list(runner.flights.in_flight), runner.cell.clock.now()):
                runner.cell.write(timer)

    def add_node(self) -> None:
        """A node is started: it takes its part as others give it back."""
        self._add_node().start()

    def add_cell(self) -> SimulatedCell:
        """An empty cell is added."""
        cell = SimulatedCell(f"cell-{len(self.cells) + 1}", self.kernel, self._cores(), self.times, ())
        self.cells.append(cell)
        cell.use_idle(lambda: len(self.nodes))
        for node in self.nodes:
            node.add_cell(cell)
        return cell

    def move_shard(self, shard: int, target: SimulatedCell, pause_s: float) -> None:
        """Close a shard, and open it in another cell after a pause, with its rows."""
        source = self.home[shard]
        del source.owners[shard]
        rows = source.rows.pop(shard)
        for node in self.nodes:
            runner = node.runners[source.name]
            runner.shards -= {shard}
        target.rows[shard] = rows
        self.home[shard] = target
        source.lease_changes += 1
        self.kernel.after(pause_s, target.open_shard, shard)

    def _cores(self) -> SharedCores:
        return SharedCores(self.kernel, self.plan.cores_of_cell)

    def _add_node(self) -> SimulatedNode:
        loop = NodeLoop(self.kernel, self._machine or OwnCore(self.kernel))
        number = len(self.nodes) if not self.nodes else max(cast("int", node.incarnation) for node in self.nodes)
        node = SimulatedNode(number, loop, self.cells, self.jobs, self.targets, self.arrivals)
        self.nodes.append(node)
        return node

    def _deal(self) -> None:
        """Give each node its part of every cell."""
        everyone = [node.incarnation for node in self.nodes]
        for node in self.nodes:
            for cell in self.cells:
                ours = allotment(cell.owners, everyone, node.incarnation)
                cell.owners |= dict.fromkeys(ours, node.incarnation)
                node.runners[cell.name].hold(ours)
            node.start()

    def _feed(self) -> None:
        """Write the rows that are due next, and let the owners of their shards read them, as the feeder does."""
        second = self.kernel.now - START + AHEAD_S + FEED_INTERVAL_S
        read: dict[tuple[str, Any], list[Timer]] = {}
        for fires in self.fires:
            for timer, _ in fires.until(second, START):
                self.offered += 1
                cell = self.home[timer.shard]
                cell.write(timer)
                if (owner := cell.owners.get(timer.shard)) is not None and not cell.is_down:
                    read.setdefault((cell.name, owner), []).append(timer)
        nodes = {node.incarnation: node for node in self.nodes}
        for (cell_name, owner), timers in read.items():
            if owner in nodes:
                nodes[owner].loop.call_soon(nodes[owner].runners[cell_name].offer, timers)
        self.kernel.after(FEED_INTERVAL_S, self._feed)


@contextmanager
def seeded(seed: int = SEED) -> Iterator[None]:
    """The product's randomness, the same in every run."""
    before, randomness.fraction = randomness.fraction, random.Random(seed).random
    collected = gc.get_threshold()
    gc.set_threshold(200_000, 50, 100)
    try:
        yield
    finally:
        randomness.fraction = before
        gc.set_threshold(*collected)


def lateness(late_ms: Sequence[float]) -> dict[str, float]:
    """Percentiles of lateness, in milliseconds."""
    return {f"p{which}_ms": round(percentile(late_ms, which), 1) for which in (50, 95, 99)}
