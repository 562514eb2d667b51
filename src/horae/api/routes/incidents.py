"""Routes of incidents, for admins of the platform."""

from typing import Annotated

from fastapi import Path

from horae.api.models.incidents import IncidentDetailView, IncidentView, NewIncident, StopIncident
from horae.api.routing import may, router
from horae.domain.ids import LONGEST_ID, Prefix, private
from horae.service.context import Context
from horae.service.incidents import incidents

routes = router("scheduler")
IncidentId = Annotated[str, Path(max_length=LONGEST_ID, description="The id of the incident.")]


@routes.get("/incidents")
async def list_incidents(ctx: Annotated[Context, may("incidents.list")]) -> list[IncidentView]:
    """List the last incidents, the newest first."""
    return [IncidentView.of(one) for one in await incidents.listing(ctx)]


@routes.post("/incidents")
async def start_incident(ctx: Annotated[Context, may("incidents.start")], asked: NewIncident) -> IncidentView:
    """Start recovery from an incident. Nodes do the rest. Refused while another incident is open."""
    return IncidentView.of(await incidents.start(ctx, asked.grade, asked.reason, asked.fault_at))


@routes.get("/incidents/{incident}")
async def get_incident(ctx: Annotated[Context, may("incidents.read")], incident: IncidentId) -> IncidentDetailView:
    """Get an incident with its timeline."""
    return IncidentDetailView.with_timeline(await incidents.show(ctx, private(Prefix.INCIDENT, incident)))


@routes.post("/incidents/{incident}/stop")
async def stop_incident(
    ctx: Annotated[Context, may("incidents.stop")], incident: IncidentId, asked: StopIncident
) -> IncidentView:
    """Stop recovery: what it set is lifted, and nothing else is done."""
    return IncidentView.of(await incidents.stop(ctx, private(Prefix.INCIDENT, incident), asked.reason))
