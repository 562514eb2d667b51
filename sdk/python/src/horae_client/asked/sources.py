"""Requests about sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from horae_client.models import Page, Repair, Round, Source, Taken
from horae_client.specs import Listed, Origin
from horae_client.wire import Request, aware, path, portions, said

MOST: Final = 500
"""The maximum number of items in a pushed page."""


def put(type_name: str, origin: Origin, facts: Mapping[str, Any], key: str) -> Request[Source]:
    """Set the source of a type, which lists its tasks."""
    return Request("PUT", path("sources", type_name), Source, body={"origin": origin, **said(**facts)}, key=key)


def get(type_name: str) -> Request[Source]:
    """Get one source with its last round."""
    return Request("GET", path("sources", type_name), Source)


def sources() -> Request[Page[Source]]:
    """Get a page of sources."""
    return Request("GET", path("sources"), Page[Source])


def remove(type_name: str) -> Request[Source]:
    """Remove a source."""
    return Request("DELETE", path("sources", type_name), Source, again=False)


def run(type_name: str, dry: bool, key: str) -> Request[Source]:
    """Request a round now."""
    return Request("POST", path("sources", type_name, "rounds"), Source, body={"dry": dry}, key=key)


def verb(type_name: str, word: str) -> Request[Source]:
    """Pause or resume a source."""
    return Request("POST", path("sources", type_name, word), Source)


def rounds(type_name: str) -> Request[Page[Round]]:
    """Get a page of rounds."""
    return Request("GET", path("sources", type_name, "rounds"), Page[Round])


def repairs(type_name: str, number: int | None) -> Request[Page[Repair]]:
    """Get a page of findings."""
    return Request("GET", path("sources", type_name, "repairs"), Page[Repair], query=said(round=number))


def push(type_name: str, name: str, items: Sequence[Listed], after: str, last: bool, dry: bool) -> Request[Taken]:
    """Push a page of a round. It is safe to push the same page again."""
    for one in items:
        aware(one.at)
    body = {"round": name, "items": items, "after": after, "last": last, "dry": dry}
    return Request("POST", path("sources", type_name, "pages"), Taken, body=body)


def pages(items: Iterable[Listed]) -> Iterator[tuple[list[Listed], str, bool]]:
    """Items in pages, each with the key it follows and whether it is the last; at least one page."""
    after, page = "", list[Listed]()
    for following in portions(items, MOST):
        if page:
            yield page, after, False
            after = page[-1].key
        page = following
    yield page, after, True
