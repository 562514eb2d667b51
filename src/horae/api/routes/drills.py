"""The route of drills, for people of the platform. Drills themselves are run by `horae drill` only."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from horae.api.models.drills import DrillView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.service.context import Context
from horae.service.drills import history

routes = router("scheduler")


@routes.get("/drills")
async def list_drills(ctx: Annotated[Context, may("drills.list")], paging: Paged) -> Page[DrillView]:
    """List the drills that have ended, the newest first, with the RTO and RPO of each."""
    before = (datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else None
    found = await history.page(ctx, before, paging.take)
    return paging.page(found, DrillView.of, lambda one: [one.place[0].isoformat(), one.place[1]])
