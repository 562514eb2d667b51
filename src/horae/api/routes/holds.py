"""Routes of holds: due calls that have to wait."""

from base64 import b64decode, b64encode
from typing import Annotated

from horae.api.models.holds import HoldView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.errors import Invalid
from horae.domain.limits.holds import HoldMark, mark, page
from horae.security.signed_texts import NO_CURSOR
from horae.service.context import Context
from horae.service.limits import holds

routes = router("holds")


@routes.get("/holds")
async def list_holds(ctx: Annotated[Context, may("holds.list")], paging: Paged) -> Page[HoldView]:
    """List the targets and limits that hold back calls of the tenant, with reason and start; most waiting first.

    The first page has those with most waiting calls. Further pages have the others in a fixed order, so that none is
    missed or repeated while the numbers change. A hold is listed some seconds after it has lasted two seconds; only the
    hundred largest holds of each node.
    """
    after = _mark(paging.after)
    found = page(await holds.listing(ctx), after, paging.take)
    listed = found[: paging.limit]
    end = None if len(found) <= paging.limit else [b64encode(part).decode() for part in mark(listed, after)]
    return paging.page_of([HoldView.of(hold) for hold in listed], end)


def _mark(after: list[str] | None) -> HoldMark | None:
    """Returns the end of the previous page. A cursor of an earlier release has another form."""
    if after is None:
        return None
    try:
        first, last = (b64decode(part, validate=True) for part in after)
    except (TypeError, ValueError) as error:
        raise Invalid(NO_CURSOR) from error
    return HoldMark(first, last)
