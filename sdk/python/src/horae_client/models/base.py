"""What all answers have in common."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A value in an answer."""


class ArchiveRead(Model, frozen=True, kw_only=True):
    """What the server read from the archive: days, requests to the object storage, bytes and seconds."""

    days: int
    requests: int
    bytes: int
    seconds: float


class Page(Model, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the cursor of the next page.

    `cells_down` names the databases that could not be reached: their rows are missing from the page.
    `archive` says what was read from the archive for a page of instances; None if nothing was.
    `unsorted` counts the dead letters that no page of failure causes has yet; `is_complete` is false where older dead
    letters were not counted.
    """

    items: list[T]
    next: str | None = None
    cells_down: list[str] = []
    archive: ArchiveRead | None = None
    unsorted: int = 0
    is_complete: bool = True
