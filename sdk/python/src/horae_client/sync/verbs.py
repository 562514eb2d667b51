"""The base of all groups of methods."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from horae_client.models import ArchiveRead, Page
from horae_client.pages import after
from horae_client.wire import Request

T = TypeVar("T")


class Carrier(Protocol):
    """Sends a request to the server and returns the answer."""

    def ask(self, request: Request[T]) -> T:
        """The answer; raises the error otherwise."""
        ...


class Items(Iterator[T]):
    """The items of a list over all pages. A page is requested when it is needed.

    `cells_down` names the databases that could not be reached for the pages so far: their rows are missing.
    `archive_reads` says what was read from the archive for the pages so far.
    """

    def __init__(
        self, ask: Callable[[Request[Page[T]]], Page[T]], request: Request[Page[T]], limit: int | None
    ) -> None:
        self.cells_down: list[str] = []
        self.archive_reads: list[ArchiveRead] = []
        self._items = self._read(ask, request, limit)

    def __next__(self) -> T:
        """The next item."""
        return next(self._items)

    def _read(
        self, ask: Callable[[Request[Page[T]]], Page[T]], request: Request[Page[T]], limit: int | None
    ) -> Iterator[T]:
        following: Request[Page[T]] | None = after(request, None, limit)
        while following is not None:
            page = ask(following)
            self.cells_down = sorted({*self.cells_down, *page.cells_down})
            self.archive_reads += [] if page.archive is None else [page.archive]
            yield from page.items
            following = None if page.next is None else after(request, page.next, limit)


class Verbs:
    """The methods of one noun."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier

    def _ask(self, request: Request[T]) -> T:
        return self._carrier.ask(request)

    def _pages(self, request: Request[Page[Any]], limit: int | None) -> Items[Any]:
        return Items(self._carrier.ask, request, limit)
