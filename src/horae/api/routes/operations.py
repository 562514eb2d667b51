"""How the scheduler does, and the days that schedules share."""

from typing import Annotated

import msgspec
from fastapi import Path, Query

from horae.api.models.operations import (
    CalendarPut,
    CalendarView,
    HealthView,
    NewCalendar,
    NodesView,
    NodeView,
    SeriesView,
    ShardView,
)
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.errors import NotFound
from horae.domain.tenants import SYSTEM
from horae.service import calendars, health
from horae.service.context import Context

routes = router("operations")
days = router("calendars")
CalendarName = Annotated[str, Path(min_length=1, max_length=120, pattern=r"^[^/\x00-\x1f\x7f]+$")]


@routes.get("/scheduler/health")
async def how(ctx: Annotated[Context, may("health.read")], asking: Asking) -> HealthView:
    """How the scheduler does for this tenant; for keys of the system tenant, for all together."""
    tenant_id = None if asking.tenant.name == SYSTEM else ctx.tenant.id
    return HealthView(**msgspec.to_builtins(await health.health(ctx.store, tenant_id)))


@routes.get("/scheduler/series")
async def lately(
    ctx: Annotated[Context, may("health.read")],
    asking: Asking,
    hours: Annotated[int, Query(ge=1, le=24, description="How far back; a day is kept.")] = 24,
    points: Annotated[int, Query(ge=1, le=288, description="At most so many stretches of time.")] = 96,
) -> SeriesView:
    """How the scheduler did in the last hours: delays, fires, outcomes, and what waited."""
    tenant_id = None if asking.tenant.name == SYSTEM else ctx.tenant.id
    return SeriesView.of(await health.series(ctx.store, tenant_id, hours=hours, points=points))


@routes.get("/nodes")
async def nodes(ctx: Annotated[Context, may("nodes.list")]) -> NodesView:
    """Every node in every cell, alive or remembered."""
    told = await health.nodes(ctx.store)
    return NodesView(
        nodes=[NodeView.of(cell, node) for cell in told for node in cell.nodes or ()],
        cells_down=[cell.cell for cell in told if cell.nodes is None],
    )


@routes.get("/shards")
async def shards(
    ctx: Annotated[Context, may("shards.list")],
    after: Annotated[int, Query(ge=-1, le=4095, description="The last shard of the page before.")] = -1,
    limit: Annotated[int, Query(ge=1, le=4096)] = 500,
) -> list[ShardView]:
    """The shards with their leases, by number."""
    told = await health.shards_of(ctx.store, after=after, limit=limit, cells_down=ctx.cells_down)
    return sorted((ShardView.of(cell, row) for cell in told for row in cell.shards), key=lambda one: one.shard)


@days.get("/calendars")
async def listing(ctx: Annotated[Context, may("calendars.list")], paging: Paged) -> Page[CalendarView]:
    """The tenant's calendars, by name."""
    found = await calendars.page(ctx, after=paging.after or "", limit=paging.take)
    return paging.page(found, CalendarView.of, lambda one: one.name)


@days.get("/calendars/{calendar}")
async def read(ctx: Annotated[Context, may("calendars.read")], calendar: CalendarName) -> CalendarView:
    """One calendar."""
    found = (await calendars.known(ctx, [calendar])).get(calendar)
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no calendar {calendar!r}")
    return CalendarView.of(found)


@days.put("/calendars/{calendar}")
async def put(ctx: Annotated[Context, may("calendars.put")], calendar: CalendarName, asked: NewCalendar) -> CalendarPut:
    """Write a calendar; every job that uses it is planned anew before this is answered."""
    made = asked.to_domain(calendar)
    moved = await calendars.put(ctx, made)
    return CalendarPut(**CalendarView.of(made).model_dump(), moved=moved)
