"""Pages: at most 200 items, and a cursor for the next one that opens nowhere else."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from horae.security.seals import Seals

Item = TypeVar("Item")
Shown = TypeVar("Shown")
MOST: Final = 200
USUAL: Final = 50


class Page(BaseModel, Generic[Item]):
    """Some items, and where the next ones begin."""

    items: list[Item]
    next: str | None = Field(None, description="Send it as `cursor` for the next page; null: this was the last.")
    cells_down: list[str] = Field(
        [], description="Cells that could not be reached: what lies there is missing from this page."
    )


class Paging(NamedTuple):
    """What was asked for: how many, after what."""

    seals: Seals
    purpose: str
    limit: int
    after: Any
    cells_down: set[str]

    @property
    def take(self) -> int:
        """How many to read: one more than is shown says whether there is a next page."""
        return self.limit + 1

    def page(
        self, found: Sequence[Item], show: Callable[[Item], Shown], place: Callable[[Item], object]
    ) -> Page[Shown]:
        """The page. `place` says what the next one comes after."""
        shown = found[: self.limit]
        more = len(found) > self.limit
        return self.told([show(one) for one in shown], place(shown[-1]) if more else None)

    def told(self, items: Sequence[Shown], place: object) -> Page[Shown]:
        """A page of something that knows itself where the next one begins; None: there is none."""
        following = None if place is None else self.seals.seal(self.purpose, place)
        return Page(items=list(items), next=following, cells_down=sorted(self.cells_down))


def _paging(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many items a page has.")] = USUAL,
    cursor: Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")] = None,
) -> Paging:
    """A cursor is good for its tenant, its path and its filter, whatever the limit."""
    seals: Seals = request.app.state.gate.seals
    filters = sorted(
        (name, value) for name, value in request.query_params.multi_items() if name not in {"cursor", "limit"}
    )
    caller, ctx = request.state.admitted
    purpose = f"{caller.tenant.id}\n{request.url.path}\n{filters}"
    after = None if cursor is None else seals.open(purpose, cursor)
    return Paging(seals, purpose, limit, after, ctx.cells_down)


Paged = Annotated[Paging, Depends(_paging)]
