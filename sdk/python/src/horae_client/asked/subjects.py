"""Requests about the subjects of rolling jobs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from horae_client.models import Changed, Coverage, Page, Subject
from horae_client.wire import Request, path, portions

MOST: Final = 1000
"""How many keys one request may name."""


def add(job: str, keys: Sequence[str], at_once: bool) -> Request[Changed]:
    """Put keys into a set."""
    return Request("PUT", path("jobs", job, "subjects"), Changed, body={"keys": keys, "at_once": at_once})


def remove(job: str, keys: Sequence[str]) -> Request[Changed]:
    """Take keys out of a set."""
    return Request("POST", path("jobs", job, "subjects", "remove"), Changed, body={"keys": keys})


def subjects(job: str, prefix: str = "") -> Request[Page[Subject]]:
    """A page of a set, of the keys that begin so."""
    query = {"prefix": prefix} if prefix else {}
    return Request("GET", path("jobs", job, "subjects"), Page[Subject], query=query)


def coverage(job: str) -> Request[Coverage]:
    """How well a set is covered."""
    return Request("GET", path("jobs", job, "coverage"), Coverage)


def parts(keys: Iterable[str]) -> Iterator[list[str]]:
    """As many at once as a request may carry, of a list of any length."""
    return portions(keys, MOST)
