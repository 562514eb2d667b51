"""Routes of alerts."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from horae.api.models.alerts import AlertView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.alerts.alerts import AlertFilter, AlertState
from horae.domain.alerts.kinds import AlertKind
from horae.domain.ids import LONGEST_ID, Prefix, private
from horae.domain.names import LONGEST_NAME
from horae.service.alerts import alerts
from horae.service.context import Context

routes = router("alerts")
AlertId = Annotated[str, Path(max_length=LONGEST_ID, examples=["alr_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.get("/alerts")
async def list_alerts(
    ctx: Annotated[Context, may("alerts.list")],
    paging: Paged,
    state: Annotated[AlertState | None, Query(description="Filter on the state.")] = None,
    kind: Annotated[AlertKind | None, Query(description="Filter on the kind.")] = None,
    job: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Filter on the name of the job.")] = None,
) -> Page[AlertView]:
    """List alerts, newest first."""
    before = (datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else None
    found = await alerts.page(ctx, AlertFilter(state, kind, job), before, paging.take)
    return paging.page(found, AlertView.of, lambda one: [one.opened_at.isoformat(), one.id])


@routes.get("/alerts/{alert}")
async def get_alert(ctx: Annotated[Context, may("alerts.read")], alert: AlertId) -> AlertView:
    """Get an alert with its messages."""
    return AlertView.with_messages(await alerts.show(ctx, private(Prefix.ALERT, alert)))


@routes.post("/alerts/{alert}/acknowledge")
async def acknowledge_alert(ctx: Annotated[Context, may("alerts.acknowledge")], alert: AlertId) -> AlertView:
    """Acknowledge an open alert: somebody takes care of it, and it is not repeated. Its end is still sent."""
    return AlertView.with_messages(await alerts.acknowledge(ctx, private(Prefix.ALERT, alert)))
