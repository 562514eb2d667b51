"""Routes of sources, which list the tasks that should exist, and of their repairs."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.sources import (
    PageProgressView,
    PushSourcePage,
    PutSource,
    RepairView,
    SourceRoundView,
    SourceView,
    StartRound,
)
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.names import LONGEST_NAME
from horae.domain.sources.sources import LAST_ROUND
from horae.service.context import Context
from horae.service.sources import pushed_pages, sources
from horae.service.sources.sources import LAST_ID
from horae.service.tenants.places import shard_of_job

routes = router("sources")
TypeName = Annotated[
    str, Path(max_length=LONGEST_NAME, description="The task type of the source.", examples=["publish"])
]


@routes.put("/sources/{type_name}", response_model=SourceView)
async def put_source(
    ctx: Annotated[Context, may("sources.put")], type_name: TypeName, asked: PutSource, key: OptionalKey = None
) -> Any:
    """Create or replace the source of a task type. A round starts at once."""
    wish = IdempotentRequest("sources.put", type_name, await shard_of_job(ctx, type_name), asked)
    return await answer_once(ctx, key, wish, lambda ctx: sources.put(ctx, type_name, asked.spec()), SourceView.alone)


@routes.get("/sources")
async def list_sources(ctx: Annotated[Context, may("sources.list")], paging: Paged) -> Page[SourceView]:
    """List the sources of the tenant, by task type, each with its last round."""
    found = await sources.page(ctx, paging.after or "", paging.take)
    return paging.page(found, SourceView.of, lambda one: one.source.name)


@routes.get("/sources/{type_name}")
async def get_source(ctx: Annotated[Context, may("sources.read")], type_name: TypeName) -> SourceView:
    """Get a source, the progress of its round, and its drift."""
    return SourceView.of(await sources.find(ctx, type_name))


@routes.post("/sources/{type_name}/pause")
async def pause_source(ctx: Annotated[Context, may("sources.pause")], type_name: TypeName) -> SourceView:
    """Pause a source: no repairs, and a running round stops. Dry rounds still run."""
    return SourceView.alone(await sources.pause(ctx, type_name))


@routes.post("/sources/{type_name}/resume")
async def resume_source(ctx: Annotated[Context, may("sources.resume")], type_name: TypeName) -> SourceView:
    """Resume a source with a new round from the first key."""
    return SourceView.alone(await sources.resume(ctx, type_name))


@routes.delete("/sources/{type_name}")
async def remove_source(ctx: Annotated[Context, may("sources.remove")], type_name: TypeName) -> SourceView:
    """Remove a source. Its tasks are kept."""
    return SourceView.alone(await sources.remove(ctx, type_name))


@routes.post("/sources/{type_name}/rounds", status_code=202, response_model=SourceView)
async def start_round(
    ctx: Annotated[Context, may("sources.run")], type_name: TypeName, asked: StartRound, key: OptionalKey = None
) -> Any:
    """Start a round now, from the first key. A dry round finds differences and changes nothing."""
    wish = IdempotentRequest("sources.run", type_name, await shard_of_job(ctx, type_name), asked, 202)
    return await answer_once(
        ctx, key, wish, lambda ctx: sources.request_round(ctx, type_name, dry=asked.dry), SourceView.alone
    )


@routes.get("/sources/{type_name}/rounds")
async def list_rounds(
    ctx: Annotated[Context, may("sources.read")], type_name: TypeName, paging: Paged
) -> Page[SourceRoundView]:
    """List the rounds of a source, newest first. The last hundred are kept."""
    before = LAST_ROUND if paging.after is None else int(paging.after)
    found = await sources.rounds(ctx, type_name, before=before, limit=paging.take)
    return paging.page(found, SourceRoundView.of, lambda one: one.number)


@routes.get("/sources/{type_name}/repairs")
async def list_repairs(
    ctx: Annotated[Context, may("sources.read")],
    type_name: TypeName,
    paging: Paged,
    round: Annotated[int | None, Query(ge=1, lt=2**31, description="Filter on the number of the round.")] = None,  # noqa: A002
) -> Page[RepairView]:
    """List the differences that rounds found and repaired, newest first. They are kept for thirty days."""
    before = LAST_ID if paging.after is None else UUID(paging.after)
    found = await sources.list_repairs(ctx, type_name, number=round, before=before, limit=paging.take)
    return paging.page(found, RepairView.of, lambda one: str(one.id))


@routes.post("/sources/{type_name}/pages")
async def push_source_page(
    ctx: Annotated[Context, may("sources.push")], type_name: TypeName, asked: PushSourcePage
) -> PageProgressView:
    """Push a page of a round. It is compared and repaired at once. The same page may be sent again."""
    return PageProgressView.of(await pushed_pages.push(ctx, type_name, asked.to_service()))
