"""What is due and held back."""

from typing import Annotated

from horae.api.models.holds import HoldView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.holds import Hold
from horae.service import holds
from horae.service.context import Context

routes = router("holds")


@routes.get("/holds")
async def listing(ctx: Annotated[Context, may("holds.list")], paging: Paged) -> Page[HoldView]:
    """Which targets and limits hold calls of the tenant back, why and since when; most waiting first.

    What nodes have held back for two seconds is told, some seconds later: the hundred largest holds of each node.
    """
    found = await holds.listing(ctx)
    if paging.after:
        found = [hold for hold in found if _place(hold) > paging.after]
    return paging.page(found, HoldView.of, _place)


def _place(hold: Hold) -> list[int | str]:
    return [-hold.waiting, hold.gate.kind, hold.gate.name, hold.lane, hold.reason]
