"""Metrics of a node: what waits and why, what is in flight, leases, and whether everything makes progress."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric

from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction, MeasureName
from horae.engine.node import Node
from horae.runtime.clock import boottime
from horae.runtime.metrics import Labels, MetricFacts, MetricKind

WAITING: Final = MetricFacts(
    "horae_calls_waiting", MetricKind.GAUGE, "Calls that are due and wait for their turn or at a gate."
)
HELD: Final = MetricFacts(
    "horae_calls_held", MetricKind.GAUGE, "Calls that a gate holds back, by its reason.", ("reason",)
)
IN_FLIGHT: Final = MetricFacts(
    "horae_calls_in_flight", MetricKind.GAUGE, "Calls that were sent and have no result yet.", ("cell",)
)
UNWRITTEN: Final = MetricFacts(
    "horae_results_unwritten", MetricKind.GAUGE, "Results of calls that are not written to the cell yet.", ("cell",)
)
LATE_RESULTS: Final = MetricFacts(
    "horae_results_late",
    MetricKind.COUNTER,
    "Results that were refused, because the attempt had another owner by then.",
    ("cell",),
)
SETTLE_BATCHES: Final = MetricFacts(
    "horae_settle_batches", MetricKind.COUNTER, "Batches of results that were begun.", ("cell",)
)
TIMERS: Final = MetricFacts(
    "horae_timers", MetricKind.GAUGE, "Timers in memory that are due within minutes.", ("cell",)
)
DUE_TIMERS: Final = MetricFacts(
    "horae_timers_due", MetricKind.GAUGE, "Timers that are due and were not offered to admission yet.", ("cell",)
)
SLOTS: Final = MetricFacts("horae_slots", MetricKind.GAUGE, "Slots for calls in flight, by state.", ("state",))
TARGETS: Final = MetricFacts(
    "horae_targets", MetricKind.GAUGE, "Targets in memory, by the state of their breaker.", ("breaker",)
)
TARGET_WINDOW: Final = MetricFacts(
    "horae_target_window_calls", MetricKind.GAUGE, "Calls that all targets together may have in flight."
)
LIMITED: Final = MetricFacts("horae_calls_limited", MetricKind.GAUGE, "Calls that wait for a shared limit.")
LIMITS: Final = MetricFacts("horae_limits", MetricKind.GAUGE, "Shared limits of which this node has a slice.")
LIMIT_GRANTS: Final = MetricFacts(
    "horae_limit_grants",
    MetricKind.COUNTER,
    "Permits and calls of shared limits that the cell has granted to this node.",
    ("cell",),
)
SHARDS_HELD: Final = MetricFacts(
    "horae_shards_held", MetricKind.GAUGE, "Shards whose lease this node holds.", ("cell",)
)
SHARD_CHANGES: Final = MetricFacts(
    "horae_shard_changes", MetricKind.COUNTER, "Shards that this node has gained or lost.", ("cell", "change")
)
TAKEN_OVER: Final = MetricFacts(
    "horae_shards_taken_over", MetricKind.COUNTER, "Shards of dead nodes that this node has taken.", ("cell",)
)
LEASE_LEFT: Final = MetricFacts(
    "horae_lease_remaining_seconds",
    MetricKind.GAUGE,
    "Seconds until the lease of the cell ends unless it is renewed.",
    ("cell",),
)
NODES: Final = MetricFacts(
    "horae_nodes_alive",
    MetricKind.GAUGE,
    "Nodes whose heartbeat this node has seen in time, itself included.",
    ("cell",),
)
STUCK: Final = MetricFacts(
    "horae_stuck", MetricKind.GAUGE, "1 for each part of the node that makes no progress.", ("what",)
)
MEASURES: Final = MetricFacts(
    "horae_measures_in_force",
    MetricKind.GAUGE,
    "Protective measures in force, by their name and by whom they concern.",
    ("measure", "scope"),
)
NODES_WANTED: Final = MetricFacts(
    "horae_nodes_wanted", MetricKind.GAUGE, "1 while a protective measure asks for more nodes, otherwise 0."
)
NODE_FAMILIES: Final = (
    MEASURES,
    NODES_WANTED,
    WAITING,
    HELD,
    IN_FLIGHT,
    UNWRITTEN,
    LATE_RESULTS,
    SETTLE_BATCHES,
    TIMERS,
    DUE_TIMERS,
    SLOTS,
    TARGETS,
    TARGET_WINDOW,
    LIMITED,
    LIMITS,
    LIMIT_GRANTS,
    SHARDS_HELD,
    SHARD_CHANGES,
    TAKEN_OVER,
    LEASE_LEFT,
    NODES,
    STUCK,
)


class NodeMetrics:
    """The metrics of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        yield from self._admission()
        yield from self._runners()
        yield from self._leases()
        yield from self._measures()
        yield STUCK.samples({(what,): 1 for what in self._node.progress.stuck})

    def _admission(self) -> Iterator[Metric]:
        admission = self._node.admission
        held: Counter[str] = Counter()
        breakers: Counter[str] = Counter()
        window = 0
        for target in admission.targets:
            breakers["closed" if target.breaker.closed else "open"] += 1
            window += target.window
            for flow in target.closed:
                held[target.reason_for(flow)] += len(flow)
        yield WAITING.sample(admission.waiting)
        yield HELD.samples({(reason.lower(),): many for reason, many in held.items()})
        slots, long = admission.slots, admission.long_slots
        by_state = {"free": slots.free, "used": slots.total - slots.free}
        by_state |= {"long_free": long.free, "long_used": long.total - long.free}
        yield SLOTS.samples({(state,): many for state, many in by_state.items()})
        yield TARGETS.samples({(state,): breakers[state] for state in ("closed", "open")})
        yield TARGET_WINDOW.sample(window)
        yield LIMITED.sample(admission.limited)
        yield LIMITS.sample(len(self._node.quotas))
        yield LIMIT_GRANTS.samples({(cell,): many for cell, many in self._node.quotas.grants.items()})

    def _measures(self) -> Iterator[Metric]:
        measures = self._node.admission.measures.measures
        names: Counter[Labels] = Counter({(name.value, "platform"): 0 for name in MeasureName})
        names.update(
            (state.name, "platform" if state.tenant_id == PLATFORM_SCOPE else "tenant") for state, _ in measures
        )
        yield MEASURES.samples(names)
        yield NODES_WANTED.sample(int(any(MeasureAction.ASK_FOR_DISPATCHERS in actions for _, actions in measures)))

    def _runners(self) -> Iterator[Metric]:
        runners = self._node.runners.items()
        yield IN_FLIGHT.samples({(cell,): len(runner.flights) for cell, runner in runners})
        completers = {(cell,): runner.flights.parts.completer for cell, runner in runners}
        yield UNWRITTEN.samples({cell: completer.unwritten for cell, completer in completers.items()})
        yield SETTLE_BATCHES.samples({cell: completer.batches for cell, completer in completers.items()})
        yield LATE_RESULTS.samples({(cell,): runner.settler.late for cell, runner in runners})
        yield TIMERS.samples({(cell,): len(runner.agenda) for cell, runner in runners})
        yield DUE_TIMERS.samples({(cell,): len(runner.due_timers) for cell, runner in runners})

    def _leases(self) -> Iterator[Metric]:
        leases, cells, now = self._node.leases, self._node.store.cells, boottime()
        yield SHARDS_HELD.samples({(cell.name,): len(leases.held_shards(cell)) for cell in cells})
        left: dict[Labels, float] = {(cell.name,): max(0.0, leases.valid_until(cell) - now) for cell in cells}
        yield LEASE_LEFT.samples(left)
        yield NODES.samples({(cell.name,): leases.living_nodes(cell) for cell in cells})
        yield TAKEN_OVER.samples({(cell.name,): leases.taken_over(cell) for cell in cells})
        changes = self._node.shard_changes
        yield SHARD_CHANGES.samples({(cell, change): many for (cell, change), many in changes.items()})
