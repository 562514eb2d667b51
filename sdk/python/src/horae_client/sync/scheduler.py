"""The scheduler as a whole: health over time, service level, nodes, shards, growth."""

from collections.abc import Iterable, Sequence
from typing import Final

from horae_client.asked import scheduler as asked
from horae_client.models import Growth, HealthSeries, Lateness, NodeList, Readiness, ServiceLevel, Shard, ShardMove
from horae_client.sync.verbs import Verbs

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
