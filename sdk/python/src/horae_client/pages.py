"""Lists are paged. A cursor gives the next page, for the same filters only."""

from dataclasses import replace
from typing import TypeVar

from horae_client.models import Page
from horae_client.wire import Request, said

T = TypeVar("T")


def after(request: Request[Page[T]], cursor: str | None, limit: int | None) -> Request[Page[T]]:
    """The request for the page after a cursor; for the first page if there is none.

    >>> from horae_client.asked.jobs import versions
    >>> from horae_client.pages import after
    >>> after(versions("coupon_job"), "abc", 10).query
    {'cursor': 'abc', 'limit': 10}
    """
    return replace(request, query={**request.query, **said(cursor=cursor, limit=limit)})
