"""The base of all groups of methods."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

from horae_client.errors import RateLimited, Unavailable, Unreachable
from horae_client.event_streams import END, MAX_FAILURES, REOPEN_PAUSE_S, EventReader
from horae_client.models import ArchiveRead, Page
from horae_client.pages import after
from horae_client.wire import Request, read_event

T = TypeVar("T")


class AsyncCarrier(Protocol):
    """Sends a request to the server and returns the answer."""

    async def ask(self, request: Request[T]) -> T:
        """The answer; raises the error otherwise."""
        ...

    def stream(self, request: Request[T], last_id: str | None = None) -> AsyncIterator[str]:
        """The lines of a stream of events, after the event with that id."""
        ...


class AsyncItems(AsyncIterator[T]):
    """The items of a list over all pages. A page is requested when it is needed.

    `cells_down` names the databases that could not be reached for the pages so far: their rows are missing.
    `archive_reads` says what was read from the archive for the pages so far.
    """

    def __init__(
        self, ask: Callable[[Request[Page[T]]], Awaitable[Page[T]]], request: Request[Page[T]], limit: int | None
    ) -> None:
        self.cells_down: list[str] = []
        self.archive_reads: list[ArchiveRead] = []
        self._items = self._read(ask, request, limit)

    async def __anext__(self) -> T:
        """The next item."""
        return await anext(self._items)

    async def _read(
        self, ask: Callable[[Request[Page[T]]], Awaitable[Page[T]]], request: Request[Page[T]], limit: int | None
    ) -> AsyncIterator[T]:
        following: Request[Page[T]] | None = after(request, None, limit)
        while following is not None:
            page = await ask(following)
            self.cells_down = sorted({*self.cells_down, *page.cells_down})
            self.archive_reads += [] if page.archive is None else [page.archive]
            for item in page.items:
                yield item
            following = None if page.next is None else after(request, page.next, limit)


class AsyncEvents(AsyncIterator[T]):
    """The events of a stream. Where it breaks, it is opened again after the last event."""

    def __init__(self, open_: Callable[[Request[T], str | None], AsyncIterator[str]], request: Request[T]) -> None:
        self._items = self._read(open_, request)

    async def __anext__(self) -> T:
        """The next event."""
        return await anext(self._items)

    async def _read(
        self, open_: Callable[[Request[T], str | None], AsyncIterator[str]], request: Request[T]
    ) -> AsyncIterator[T]:
        reader, failures = EventReader(), 0
        while True:
            reader.restart()
            try:
                async for line in open_(request, reader.last_id):
                    event = reader.feed(line)
                    if event is None:
                        continue
                    failures = 0
                    if event.name == END:
                        return
                    yield read_event(request, event.data)
            except (Unreachable, Unavailable, RateLimited):
                failures += 1
                if failures >= MAX_FAILURES:
                    raise
            await asyncio.sleep(REOPEN_PAUSE_S * (1 + failures))


class AsyncVerbs:
    """The methods of one noun."""

    def __init__(self, carrier: AsyncCarrier) -> None:
        self._carrier = carrier

    async def _ask(self, request: Request[T]) -> T:
        return await self._carrier.ask(request)

    def _pages(self, request: Request[Page[Any]], limit: int | None) -> AsyncItems[Any]:
        return AsyncItems(self._carrier.ask, request, limit)

    def _events(self, request: Request[T]) -> AsyncEvents[T]:
        return AsyncEvents(self._carrier.stream, request)
