"""Requests about the scheduler as a whole."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from horae_client.models import (
    Drill,
    Growth,
    Health,
    HealthSeries,
    Incident,
    IncidentDetail,
    Lateness,
    MeasureDecision,
    MeasureState,
    NodeList,
    Page,
    Readiness,
    Retention,
    ServiceLevel,
    Shard,
    ShardMove,
)
from horae_client.wire import Request, path, said

SHARDS_A_REQUEST: Final = 1000
"""The number of shards in one request."""


def health() -> Request[Health]:
    """Get the health of the scheduler."""
    return Request("GET", path("scheduler", "health"), Health)


def series(hours: int | None, points: int | None) -> Request[HealthSeries]:
    """Get the health of the last hours."""
    return Request("GET", path("scheduler", "series"), HealthSeries, query=said(hours=hours, points=points))


def growth() -> Request[Growth]:
    """Get how each cell grows."""
    return Request("GET", path("scheduler", "growth"), Growth)


def retention() -> Request[Retention]:
    """Get how long things are kept."""
    return Request("GET", path("scheduler", "retention"), Retention)


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


def incidents() -> Request[list[Incident]]:
    """Get the last incidents."""
    return Request("GET", path("incidents"), list[Incident])


def incident(id_: str) -> Request[IncidentDetail]:
    """Get an incident with its timeline."""
    return Request("GET", path("incidents", id_), IncidentDetail)


def start_incident(grade: str, reason: str, fault_at: datetime | None) -> Request[Incident]:
    """Start recovery from an incident."""
    body = said(grade=grade, reason=reason, fault_at=None if fault_at is None else fault_at.isoformat())
    return Request("POST", path("incidents"), Incident, body=body)


def stop_incident(id_: str, reason: str) -> Request[Incident]:
    """Stop recovery from an incident."""
    return Request("POST", path("incidents", id_, "stop"), Incident, body={"reason": reason})


def measures() -> Request[list[MeasureState]]:
    """Get the measures of all scopes."""
    return Request("GET", path("measures"), list[MeasureState])


def override_measure(
    name: str, reason: str, *, in_force: bool, minutes: int, tenant: str | None
) -> Request[MeasureDecision]:
    """Decide about a measure."""
    body = said(in_force=in_force, minutes=minutes, tenant=tenant, reason=reason)
    return Request("POST", path("measures", name, "override"), MeasureDecision, body=body)


def lift_measure(name: str, reason: str, tenant: str | None) -> Request[MeasureDecision]:
    """End the decision about a measure."""
    return Request("POST", path("measures", name, "lift"), MeasureDecision, body=said(tenant=tenant, reason=reason))


def drills() -> Request[Page[Drill]]:
    """Get a page of the drills that have ended."""
    return Request("GET", path("drills"), Page[Drill])


def liveness() -> Request[dict[str, str]]:
    """Ask whether the process runs."""
    return Request("GET", "/healthz", dict[str, str])


def readiness() -> Request[Readiness]:
    """Ask whether the process can serve requests. It answers with status 503 if it cannot."""
    return Request("GET", "/readyz", Readiness, also_reads=(503,))


def metrics() -> Request[str]:
    """Get the metrics as text."""
    return Request("GET", "/metrics", str)
