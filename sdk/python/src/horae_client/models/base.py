"""What all answers have in common."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A value in an answer."""


class Page(Model, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the cursor of the next page.

    `cells_down` names the databases that could not be reached: their rows are missing from the page.
    """

    items: list[T]
    next: str | None = None
    cells_down: list[str] = []
