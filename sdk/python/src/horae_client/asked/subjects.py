"""Requests about the subjects of rolling jobs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from horae_client.models import Changed, Coverage, Page, Subject
from horae_client.wire import Request, encode, path, portions

MOST: Final = 1000
"""The maximum number of keys in one request."""
IMPORTED_KEYS: Final = 100_000
"""The number of keys that an import sends in one request; the server reads any number."""


def add(job: str, keys: Sequence[str], at_once: bool) -> Request[Changed]:
    """Add keys to a set."""
    return Request("PUT", path("jobs", job, "subjects"), Changed, body={"keys": keys, "at_once": at_once})


def remove(job: str, keys: Sequence[str]) -> Request[Changed]:
    """Remove keys from a set."""
    return Request("POST", path("jobs", job, "subjects", "remove"), Changed, body={"keys": keys})


def import_keys(job: str, keys: Sequence[str], at_once: bool) -> Request[Changed]:
    """Add keys to a set, one per line."""
    lines = b"".join(encode(key) + b"\n" for key in keys)
    return Request("POST", path("jobs", job, "subjects", "import"), Changed, query={"at_once": at_once}, body=lines)


def subjects(
    job: str, prefix: str = "", status: int | None = None, batch_no: str | None = None
) -> Request[Page[Subject]]:
    """Get a page of a set: keys that begin with `prefix`, of one status, of one batch."""
    query: dict[str, object] = {"prefix": prefix} if prefix else {}
    if status is not None:
        query["status"] = status
    if batch_no is not None:
        query["batch_no"] = batch_no
    return Request("GET", path("jobs", job, "subjects"), Page[Subject], query=query)


def coverage(job: str) -> Request[Coverage]:
    """Get the coverage of a set."""
    return Request("GET", path("jobs", job, "coverage"), Coverage)


def imported_parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """Split a list of any length into the parts of an import."""
    rest = iter(keys)
    while part := list(islice(rest, IMPORTED_KEYS)):
        yield part


def parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """Split a list of any length into parts that fit into one request."""
    return portions(keys, MOST)
