"""Routes of health, nodes and shards."""

from datetime import timedelta
from typing import Annotated

import msgspec
from fastapi import Query

from horae.api.models.operations import (
    CellGrowthView,
    GrowthView,
    HealthSeriesView,
    HealthView,
    LatenessView,
    MeasuredCapacityView,
    NodesView,
    NodeView,
    ShardView,
)
from horae.api.models.retention import RetentionView
from horae.api.models.service_level import ServiceLevelView
from horae.api.routing import Asking, may, router
from horae.domain.placement import SHARDS
from horae.domain.tenants.tenants import SYSTEM
from horae.service.context import Context
from horae.service.health import health, lateness, retention, service_level

routes = router("operations")


@routes.get("/scheduler/health")
async def get_health(ctx: Annotated[Context, may("health.read")], asking: Asking) -> HealthView:
    """Get the health of the scheduler for this tenant, or for all tenants with a key of the tenant `system`."""
    tenant_id = None if asking.tenant.name == SYSTEM else ctx.tenant.id
    return HealthView(**msgspec.to_builtins(await health.health(ctx, tenant_id, ctx.memory.objective)))


@routes.get("/service-level")
async def get_service_level(ctx: Annotated[Context, may("health.read")], asking: Asking) -> ServiceLevelView:
    """Get the service level of this tenant, or of all tenants with a key of the tenant `system`.

    How many due times of 30 days were in time, what is left of the error budget, and how fast it burns.
    """
    tenant_id = None if asking.tenant.name == SYSTEM else ctx.tenant.id
    return ServiceLevelView.of(await service_level.levels_of(ctx, tenant_id))


@routes.get("/scheduler/series")
async def get_health_series(
    ctx: Annotated[Context, may("health.read")],
    asking: Asking,
    hours: Annotated[int, Query(ge=1, le=24, description="Number of hours to look back; at most 24.")] = 24,
    points: Annotated[int, Query(ge=1, le=288, description="Maximum number of points.")] = 96,
) -> HealthSeriesView:
    """Get the health of the last hours as a series: delays, fires, outcomes and backlog."""
    tenant_id = None if asking.tenant.name == SYSTEM else ctx.tenant.id
    return HealthSeriesView.of(await health.series(ctx, tenant_id, hours=hours, points=points))


@routes.get("/nodes")
async def list_nodes(ctx: Annotated[Context, may("nodes.list")]) -> NodesView:
    """List all nodes of all cells, including stopped nodes that are still recorded."""
    answers = await health.nodes(ctx)
    return NodesView(
        nodes=[NodeView.of(cell, node) for cell in answers for node in cell.nodes or ()],
        cells_down=[cell.cell for cell in answers if cell.nodes is None],
    )


@routes.get("/scheduler/growth")
async def get_growth(ctx: Annotated[Context, may("growth.read")]) -> GrowthView:
    """Get how each cell grows: bytes a day, when its disk is full, the oldest day, and what holds days back."""
    answers = await health.growth_of(ctx)
    return GrowthView(
        cells=[CellGrowthView.of(one.cell, one.growth) for one in answers if one.growth is not None],
        unmeasured=[one.cell for one in answers if one.answers and one.growth is None],
        cells_down=[one.cell for one in answers if not one.answers],
        measured=MeasuredCapacityView.of_reports(),
    )


@routes.get("/scheduler/retention")
async def get_retention(ctx: Annotated[Context, may("retention.read")], asking: Asking) -> RetentionView:
    """Get how long things are kept; with a key of the tenant `system` also the days of each cell and what waits.

    Terms are the settings of the nodes, and the same for all tenants.
    """
    return RetentionView.of(await retention.read(ctx), with_cells=asking.tenant.name == SYSTEM)


@routes.get("/scheduler/lateness")
async def get_lateness(
    ctx: Annotated[Context, may("lateness.read")],
    minutes: Annotated[int, Query(ge=1, le=60, description="Number of minutes to look back.")] = 10,
) -> LatenessView:
    """Get how late the fires of all tenants were, by the second of the minute at which they were due."""
    return LatenessView.of(await lateness.by_second(ctx, timedelta(minutes=minutes)))


@routes.get("/shards")
async def list_shards(
    ctx: Annotated[Context, may("shards.list")],
    after: Annotated[int, Query(ge=-1, le=SHARDS - 1, description="The last shard of the previous page.")] = -1,
    limit: Annotated[int, Query(ge=1, le=SHARDS, description="Maximum number of shards.")] = 500,
) -> list[ShardView]:
    """List the shards and their leases, by number."""
    answers = await health.shards_of(ctx, after=after, limit=limit)
    return sorted((ShardView.of(cell, row) for cell in answers for row in cell.shards), key=lambda one: one.shard)
