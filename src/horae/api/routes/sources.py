"""Sources: where a business lists what should be pending, and what was repaired by it."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import OptionalKey, Wish, answered
from horae.api.models.sources import AskRound, PushPage, PutSource, RepairView, RoundView, SourceView, TakenView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.sources import LAST_ROUND
from horae.service import source_pages, sources
from horae.service.context import Context
from horae.service.places import shard_of_job
from horae.service.sources import LAST_ID

routes = router("sources")
TypeName = Annotated[str, Path(max_length=120, description="The type whose tasks it lists.", examples=["publish"])]


@routes.put("/sources/{type_name}", response_model=SourceView)
async def put(
    ctx: Annotated[Context, may("sources.put")], type_name: TypeName, asked: PutSource, key: OptionalKey = None
) -> Any:
    """Say where the tasks of a type are listed, in the place of what was said before. A round begins at once."""
    wish = Wish("sources.put", type_name, await shard_of_job(ctx, type_name), asked)
    return await answered(ctx, key, wish, lambda ctx: sources.put(ctx, type_name, asked.spec()), SourceView.alone)


@routes.get("/sources")
async def listing(ctx: Annotated[Context, may("sources.list")], paging: Paged) -> Page[SourceView]:
    """The tenant's sources by the name of their type, each with its last round."""
    found = await sources.page(ctx, paging.after or "", paging.take)
    return paging.page(found, SourceView.of, lambda one: one.source.name)


@routes.get("/sources/{type_name}")
async def read(ctx: Annotated[Context, may("sources.read")], type_name: TypeName) -> SourceView:
    """One source: what was written down, how far its round is, and its drift."""
    return SourceView.of(await sources.find(ctx, type_name))


@routes.post("/sources/{type_name}/pause")
async def pause(ctx: Annotated[Context, may("sources.pause")], type_name: TypeName) -> SourceView:
    """Repair nothing by it; a round under way stands still. Dry rounds are compared all the same."""
    return SourceView.alone(await sources.pause(ctx, type_name))


@routes.post("/sources/{type_name}/resume")
async def resume(ctx: Annotated[Context, may("sources.resume")], type_name: TypeName) -> SourceView:
    """Go on, with a round from the first key on."""
    return SourceView.alone(await sources.resume(ctx, type_name))


@routes.delete("/sources/{type_name}")
async def remove(ctx: Annotated[Context, may("sources.remove")], type_name: TypeName) -> SourceView:
    """Compare no more. Tasks stay as they are."""
    return SourceView.alone(await sources.remove(ctx, type_name))


@routes.post("/sources/{type_name}/rounds", status_code=202, response_model=SourceView)
async def ask(
    ctx: Annotated[Context, may("sources.run")], type_name: TypeName, asked: AskRound, key: OptionalKey = None
) -> Any:
    """Ask for a round now, from the first key on. A dry one finds differences and changes nothing."""
    wish = Wish("sources.run", type_name, await shard_of_job(ctx, type_name), asked, 202)
    return await answered(ctx, key, wish, lambda ctx: sources.ask(ctx, type_name, dry=asked.dry), SourceView.alone)


@routes.get("/sources/{type_name}/rounds")
async def rounds(ctx: Annotated[Context, may("sources.read")], type_name: TypeName, paging: Paged) -> Page[RoundView]:
    """A source's rounds, newest first; the last hundred are kept."""
    before = LAST_ROUND if paging.after is None else int(paging.after)
    found = await sources.rounds(ctx, type_name, before=before, limit=paging.take)
    return paging.page(found, RoundView.of, lambda one: one.number)


@routes.get("/sources/{type_name}/repairs")
async def repairs(
    ctx: Annotated[Context, may("sources.read")],
    type_name: TypeName,
    paging: Paged,
    round: Annotated[int | None, Query(ge=1, lt=2**31, description="Only of this round.")] = None,  # noqa: A002
) -> Page[RepairView]:
    """What rounds found and did, or would have done in a dry one; newest first, for thirty days."""
    before = LAST_ID if paging.after is None else UUID(paging.after)
    found = await sources.repaired(ctx, type_name, number=round, before=before, limit=paging.take)
    return paging.page(found, RepairView.of, lambda one: str(one.id))


@routes.post("/sources/{type_name}/pages")
async def push(ctx: Annotated[Context, may("sources.push")], type_name: TypeName, asked: PushPage) -> TakenView:
    """Push a page of a round: it is compared at once, and what differs is repaired. The same page again is fine."""
    return TakenView.of(await source_pages.push(ctx, type_name, asked.pushed()))
