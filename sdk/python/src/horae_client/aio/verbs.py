"""What all verbs are made of."""

from collections.abc import AsyncIterator
from typing import Any, Protocol, TypeVar

from horae_client.models import Page
from horae_client.pages import after
from horae_client.wire import Request

T = TypeVar("T")


class AsyncCarrier(Protocol):
    """Someone who carries a request to the server and brings the answer."""

    async def ask(self, request: Request[T]) -> T:
        """The answer, or what was raised instead of it."""
        ...


class AsyncVerbs:
    """A noun's verbs, over a carrier."""

    def __init__(self, carrier: AsyncCarrier) -> None:
        self._carrier = carrier

    async def _ask(self, request: Request[T]) -> T:
        return await self._carrier.ask(request)

    async def _pages(self, request: Request[Page[Any]], limit: int | None) -> AsyncIterator[Any]:
        """One by one, over as many pages as there are; a page is asked for when it is needed."""
        following: Request[Page[Any]] | None = after(request, None, limit)
        while following is not None:
            page = await self._carrier.ask(following)
            for item in page.items:
                yield item
            following = None if page.next is None else after(request, page.next, limit)
