"""Requests about the scheduler as a whole."""

from collections.abc import Iterable
from typing import Final

from horae_client.models import Growth, HealthSeries, Lateness, NodeList, Readiness, ServiceLevel, Shard, ShardMove
from horae_client.wire import Request, path, said

SHARDS_A_REQUEST: Final = 1000
"""The number of shards in one request."""


def series(hours: int | None, points: int | None) -> Request[HealthSeries]:
    """Get the health of the last hours."""
    return Request("GET", path("scheduler", "series"), HealthSeries, query=said(hours=hours, points=points))


def growth() -> Request[Growth]:
    """Get how each cell grows."""
    return Request("GET", path("scheduler", "growth"), Growth)


def lateness(minutes: int | None) -> Request[Lateness]:
    """Get how late fires were."""
    return Request("GET", path("scheduler", "lateness"), Lateness, query=said(minutes=minutes))


def service_level() -> Request[ServiceLevel]:
    """Get the service level."""
    return Request("GET", path("service-level"), ServiceLevel)


def nodes() -> Request[NodeList]:
    """Get all nodes."""
    return Request("GET", path("nodes"), NodeList)


def shards(after: int) -> Request[list[Shard]]:
    """Get the shards after a number."""
    return Request("GET", path("shards"), list[Shard], query={"after": after, "limit": SHARDS_A_REQUEST})


def moves() -> Request[list[ShardMove]]:
    """Get the moves of shards."""
    return Request("GET", path("shard-moves"), list[ShardMove])


def request_moves(action: str, shards: Iterable[int], cell: str | None) -> Request[list[ShardMove]]:
    """Ask for moves of shards."""
    body = said(action=action, shards=list(shards) or None, cell=cell)
    return Request("POST", path("shard-moves"), list[ShardMove], body=body)


def abort_move(shard: int) -> Request[ShardMove]:
    """Ask for the end of a shard's move."""
    return Request("POST", path("shard-moves", str(shard), "abort"), ShardMove)


def liveness() -> Request[dict[str, str]]:
    """Ask whether the process runs."""
    return Request("GET", "/healthz", dict[str, str])


def readiness() -> Request[Readiness]:
    """Ask whether the process can serve requests. It answers with status 503 if it cannot."""
    return Request("GET", "/readyz", Readiness, also_reads=(503,))


def metrics() -> Request[str]:
    """Get the metrics as text."""
    return Request("GET", "/metrics", str)
