"""What all verbs are made of."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

from horae_client.models import Page
from horae_client.pages import after
from horae_client.wire import Request

T = TypeVar("T")


class Carrier(Protocol):
    """Someone who carries a request to the server and brings the answer."""

    def ask(self, request: Request[T]) -> T:
        """The answer, or what was raised instead of it."""
        ...


class Verbs:
    """A noun's verbs, over a carrier."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier

    def _ask(self, request: Request[T]) -> T:
        return self._carrier.ask(request)

    def _pages(self, request: Request[Page[Any]], limit: int | None) -> Iterator[Any]:
        """One by one, over as many pages as there are; a page is asked for when it is needed."""
        following: Request[Page[Any]] | None = after(request, None, limit)
        while following is not None:
            page = self._carrier.ask(following)
            yield from page.items
            following = None if page.next is None else after(request, page.next, limit)
