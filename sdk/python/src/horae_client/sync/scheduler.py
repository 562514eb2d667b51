"""The scheduler as a whole: health over time, service level, nodes, shards, growth."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from horae_client.asked import scheduler as asked
from horae_client.models import (
    Drill,
    Growth,
    HealthSeries,
    Incident,
    IncidentDetail,
    Lateness,
    MeasureDecision,
    MeasureState,
    NodeList,
    Readiness,
    Retention,
    ServiceLevel,
    Shard,
    ShardMove,
)
from horae_client.sync.verbs import Items, Verbs

BEFORE_ALL: Final = -1
"""The number before the first shard."""


class Scheduler(Verbs):
    """How the scheduler does. `platform` is a client with a key of the tenant `system`."""

    def health_series(self, *, hours: int | None = None, points: int | None = None) -> HealthSeries:
        """Get the health of the last hours as a series: delays, fires, results and backlog.

        >>> series = client.scheduler.health_series(hours=1, points=6)
        >>> series.step_seconds, series.cells_down
        (600, [])
        """
        return self._ask(asked.series(hours, points))

    def retention(self) -> Retention:
        """Get how long things are kept; with keys of `system` also the days of each cell, and how far the archive is.

        >>> kept = client.scheduler.retention()
        >>> kept.cells
        []
        """
        return self._ask(asked.retention())

    def lateness(self, *, minutes: int | None = None) -> Lateness:
        """Get how late fires were, by the second of the minute at which they were due; for keys of `system`.

        >>> found = platform.scheduler.lateness(minutes=10)
        >>> found.cells_down
        []
        """
        return self._ask(asked.lateness(minutes))

    def service_level(self) -> ServiceLevel:
        """Get how many due times of 30 days were in time, and what is left of the error budget.

        >>> level = client.scheduler.service_level()
        >>> level.total.overdue, level.total.burning
        (0, [])
        """
        return self._ask(asked.service_level())

    def nodes(self) -> NodeList:
        """List all nodes of all cells; for keys of the tenant `system`.

        >>> found = platform.scheduler.nodes()
        >>> found.cells_down
        []
        """
        return self._ask(asked.nodes())

    def shards(self) -> Sequence[Shard]:
        """List all shards and the nodes that lease them, by number; for keys of the tenant `system`.

        >>> shards = platform.scheduler.shards()
        >>> len(shards), shards[0].shard
        (4096, 0)
        """
        found = page = self._ask(asked.shards(BEFORE_ALL))
        while len(page) == asked.SHARDS_A_REQUEST:
            page = self._ask(asked.shards(page[-1].shard))
            found = [*found, *page]
        return found

    def moves(self) -> Sequence[ShardMove]:
        """List the moves of shards: those that have not ended, then the newest; for keys of the tenant `system`.

        >>> platform.scheduler.moves()
        []
        """
        return self._ask(asked.moves())

    def request_moves(
        self,
        action: str,
        *,
        shards: Iterable[int] = (),
        cell: str | None = None,
    ) -> Sequence[ShardMove]:
        """Ask for moves of shards to other cells; for keys of the tenant `system`. Returns the moves that were added.

        `MOVE` moves `shards` to a `cell`, `DRAIN` moves all shards of a `cell`, `REBALANCE` makes all cells even.

        >>> platform.scheduler.request_moves("REBALANCE")
        []
        """
        return self._ask(asked.request_moves(action, shards, cell))

    def abort_move(self, shard: int) -> ShardMove:
        """Ask for the end of a shard's move; for keys of the tenant `system`.

        >>> platform.scheduler.abort_move(17)
        Traceback (most recent call last):
        Conflict: SCH_409_CONFLICT: shard 17 does not move
        """
        return self._ask(asked.abort_move(shard))

    def incidents(self) -> Sequence[Incident]:
        """List the last incidents, the newest first; for keys of the tenant `system`.

        >>> platform.scheduler.incidents()
        []
        """
        return self._ask(asked.incidents())

    def incident(self, id_: str) -> IncidentDetail:
        """Get an incident with its timeline; for keys of the tenant `system`.

        >>> platform.scheduler.incident("inc_01hv0000000000000000000000")
        Traceback (most recent call last):
        NotFound: SCH_404_NOT_FOUND: there is no incident inc_01hv0000000000000000000000
        """
        return self._ask(asked.incident(id_))

    def start_incident(self, grade: str, *, reason: str, fault_at: datetime | None = None) -> Incident:
        """Start recovery from an incident of grade `P1` or `P2`; for keys of the tenant `system`.

        `fault_at` is when the trouble began, by default now. Nodes do the rest.

        >>> incident = platform.scheduler.start_incident("P2", reason="retries pile up")
        >>> incident.step
        'FREEZE'
        """
        return self._ask(asked.start_incident(grade, reason, fault_at))

    def stop_incident(self, id_: str, *, reason: str) -> Incident:
        """Stop recovery: what it set is lifted, and nothing else is done; for keys of the tenant `system`.

        >>> incident = platform.scheduler.start_incident("P2", reason="retries pile up")
        >>> stopped = platform.scheduler.stop_incident(incident.id, reason="a false alarm")
        >>> stopped.stop_requested
        True
        """
        return self._ask(asked.stop_incident(id_, reason))

    def measures(self) -> Sequence[MeasureState]:
        """List the measures that are in force, may soon be, or that a person has decided about; for `system`.

        >>> platform.scheduler.measures()
        []
        """
        return self._ask(asked.measures())

    def override_measure(
        self, name: str, *, in_force: bool, reason: str, minutes: int = 60, tenant: str | None = None
    ) -> MeasureDecision:
        """Decide about a measure for some minutes, whatever its signal says; for keys of the tenant `system`.

        `in_force`: with all its actions, or with none. `tenant` is a name or an id: for it alone; None: for everybody.

        >>> decision = platform.scheduler.override_measure("peak_load", in_force=False, reason="a load test")
        >>> decision.cells_down
        []
        """
        return self._ask(asked.override_measure(name, reason, in_force=in_force, minutes=minutes, tenant=tenant))

    def lift_measure(self, name: str, *, reason: str, tenant: str | None = None) -> MeasureDecision:
        """End the decision of a person about a measure: its signal decides again; for keys of the tenant `system`.

        >>> decision = platform.scheduler.lift_measure("peak_load", reason="the test is over")
        >>> decision.cells_down
        []
        """
        return self._ask(asked.lift_measure(name, reason, tenant))

    def drills(self, *, limit: int | None = None) -> Items[Drill]:
        """List the drills that have ended, the newest first; for keys of the tenant `system`.

        >>> [(one.kind, one.rto_s, one.passed) for one in platform.scheduler.drills()]
        []
        """
        return self._pages(asked.drills(), limit)

    def growth(self) -> Growth:
        """Get how each cell grows, and when its disk is full; for keys of the tenant `system`.

        >>> growth = platform.scheduler.growth()
        >>> growth.cells_down
        []
        """
        return self._ask(asked.growth())

    def liveness(self) -> dict[str, str]:
        """Ask whether the API process runs. It needs no permission.

        >>> client.scheduler.liveness()
        {'status': 'ok'}
        """
        return self._ask(asked.liveness())

    def readiness(self) -> Readiness:
        """Ask whether the API process can serve requests, and for the state of each cell. It needs no permission.

        >>> found = client.scheduler.readiness()
        >>> found.ready, found.degraded
        (True, False)
        """
        return self._ask(asked.readiness())

    def metrics(self) -> str:
        """Get the metrics of the API process in the text format of Prometheus; for keys of the tenant `system`.

        >>> text = platform.scheduler.metrics()
        >>> "horae_api_requests_total" in text
        True
        """
        return self._ask(asked.metrics())
