"""Routes of protective measures, for admins of the platform."""

from datetime import timedelta
from typing import Annotated

from fastapi import Path

from horae.api.models.measures import LiftMeasure, MeasureDecisionView, MeasureStateView, OverrideMeasure
from horae.api.routing import may, router
from horae.domain.measures.measures import MeasureName
from horae.service.context import Context
from horae.service.measures import overrides

routes = router("scheduler")
Measure = Annotated[MeasureName, Path(description="The measure, by the name of its signal.")]


@routes.get("/measures")
async def list_measures(ctx: Annotated[Context, may("measures.list")]) -> list[MeasureStateView]:
    """List the measures that are in force, may come into force soon, or that a person has decided about."""
    found, now = await overrides.listing(ctx), ctx.now()
    return [MeasureStateView.of(*one, now) for one in found]


@routes.post("/measures/{name}/override")
async def override_measure(
    ctx: Annotated[Context, may("measures.override")], name: Measure, asked: OverrideMeasure
) -> MeasureDecisionView:
    """Decide about a measure for some time, whatever its signal says. Nodes follow within seconds."""
    scope, lasts = await overrides.scope_of(ctx, name, asked.tenant), timedelta(minutes=asked.minutes)
    copies = await overrides.override(ctx, scope, lasts, asked.reason, in_force=asked.in_force)
    return MeasureDecisionView.of(scope, copies)


@routes.post("/measures/{name}/lift")
async def lift_measure(
    ctx: Annotated[Context, may("measures.lift")], name: Measure, asked: LiftMeasure
) -> MeasureDecisionView:
    """End the decision of a person about a measure: its signal decides again."""
    scope = await overrides.scope_of(ctx, name, asked.tenant)
    return MeasureDecisionView.of(scope, await overrides.lift(ctx, scope, asked.reason))
