"""Pages of at most 200 items, with a signed cursor that is valid for one tenant, path and filter."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from fastapi import Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from horae.security.signed_texts import Signer

Item = TypeVar("Item")
View = TypeVar("View")
MOST: Final = 200
USUAL: Final = 50


class Page(BaseModel, Generic[Item]):
    """A page of items, and the cursor of the next page."""

    items: list[Item]
    next: str | None = Field(None, description="The `cursor` of the next page; null on the last page.")
    cells_down: list[str] = Field(
        [], description="Cells that could not be reached. Their rows are missing from this page."
    )


class PageRequest(NamedTuple):
    """The requested page: its size and its position."""

    signer: Signer
    purpose: str
    limit: int
    after: Any
    cells_down: set[str]

    @property
    def take(self) -> int:
        """The number of rows to read: one more than the page has says whether there is a next page."""
        return self.limit + 1

    def page(self, found: Sequence[Item], show: Callable[[Item], View], place: Callable[[Item], object]) -> Page[View]:
        """Returns a page. `place` returns the position of an item for the cursor."""
        listed = found[: self.limit]
        more = len(found) > self.limit
        return self.page_of([show(one) for one in listed], place(listed[-1]) if more else None)

    def page_of(self, items: Sequence[View], place: object) -> Page[View]:
        """Returns a page with a known position of the next page; None if there is no next page."""
        return Page(items=list(items), next=self._cursor(place), cells_down=sorted(self.cells_down))

    def response_of(self, items: Sequence[Mapping[str, Any]], place: object, **others: object) -> Response:
        """Like `page_of`, from the fields of the items, as the bytes of the response. `others`: its further fields.

        The framework would validate each field of each item, which takes longer than everything else of a long page.
        """
        page = {"items": items, "next": self._cursor(place), "cells_down": sorted(self.cells_down), **others}
        return Response(msgspec.json.encode(page), media_type="application/json")

    def _cursor(self, place: object) -> str | None:
        return None if place is None else self.signer.sign(self.purpose, place)


async def _paging(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST, description="Maximum number of items per page.")] = USUAL,
    cursor: Annotated[str | None, Query(max_length=2000, description="`next` of the previous page.")] = None,
) -> PageRequest:
    """Returns the requested page. A cursor is valid for its tenant, path and filter, with any limit."""
    signer: Signer = request.app.state.gate.signer
    filters = sorted(
        (name, value) for name, value in request.query_params.multi_items() if name not in {"cursor", "limit"}
    )
    caller, ctx = request.state.admitted
    purpose = f"{caller.tenant.id}\n{request.url.path}\n{filters}"
    after = None if cursor is None else signer.verify(purpose, cursor)
    return PageRequest(signer, purpose, limit, after, ctx.cells_down)


Paged = Annotated[PageRequest, Depends(_paging)]
