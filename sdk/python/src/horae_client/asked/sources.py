"""Requests about sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from horae_client.models import Page, Repair, Round, Source, Taken
from horae_client.specs import Listed, Origin
from horae_client.wire import Request, aware, path, portions, said

MOST: Final = 500
"""How many items a page that is pushed holds."""


def put(type_name: str, origin: Origin, facts: Mapping[str, Any], key: str) -> Request[Source]:
    """Say where the tasks of a type are listed."""
    return Request("PUT", path("sources", type_name), Source, body={"origin": origin, **said(**facts)}, key=key)


def get(type_name: str) -> Request[Source]:
    """One source with its last round."""
    return Request("GET", path("sources", type_name), Source)


def sources() -> Request[Page[Source]]:
    """A page of sources."""
    return Request("GET", path("sources"), Page[Source])


def remove(type_name: str) -> Request[Source]:
    """Compare no more."""
    return Request("DELETE", path("sources", type_name), Source, again=False)


def run(type_name: str, dry: bool, key: str) -> Request[Source]:
    """Ask for a round now."""
    return Request("POST", path("sources", type_name, "rounds"), Source, body={"dry": dry}, key=key)


def rounds(type_name: str) -> Request[Page[Round]]:
    """A page of rounds."""
    return Request("GET", path("sources", type_name, "rounds"), Page[Round])


def repairs(type_name: str, number: int | None) -> Request[Page[Repair]]:
    """A page of what was found and done."""
    return Request("GET", path("sources", type_name, "repairs"), Page[Repair], query=said(round=number))


def push(type_name: str, name: str, items: Sequence[Listed], after: str, last: bool, dry: bool) -> Request[Taken]:
    """A page of a round. The same one again is fine."""
    for one in items:
        aware(one.at)
    body = {"round": name, "items": items, "after": after, "last": last, "dry": dry}
    return Request("POST", path("sources", type_name, "pages"), Taken, body=body)


def pages(items: Iterable[Listed]) -> Iterator[tuple[list[Listed], str, bool]]:
    """Items in pages, each with the key it comes after and whether it is the last; at least one."""
    after, page = "", list[Listed]()
    for following in portions(items, MOST):
        if page:
            yield page, after, False
            after = page[-1].key
        page = following
    yield page, after, True
