"""Requests about the subjects of rolling jobs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from horae_client.models import Changed, Coverage, Page, Subject
from horae_client.wire import Request, path, portions

MOST: Final = 1000
"""The maximum number of keys in one request."""


def add(job: str, keys: Sequence[str], at_once: bool) -> Request[Changed]:
    """Add keys to a set."""
    return Request("PUT", path("jobs", job, "subjects"), Changed, body={"keys": keys, "at_once": at_once})


def remove(job: str, keys: Sequence[str]) -> Request[Changed]:
    """Remove keys from a set."""
    return Request("POST", path("jobs", job, "subjects", "remove"), Changed, body={"keys": keys})


def subjects(job: str, prefix: str = "") -> Request[Page[Subject]]:
    """Get a page of a set, of keys that begin with `prefix`."""
    query = {"prefix": prefix} if prefix else {}
    return Request("GET", path("jobs", job, "subjects"), Page[Subject], query=query)


def coverage(job: str) -> Request[Coverage]:
    """Get the coverage of a set."""
    return Request("GET", path("jobs", job, "coverage"), Coverage)


def parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """Split a list of any length into parts that fit into one request."""
    return portions(keys, MOST)
