"""Requests about secrets."""

from collections.abc import Sequence

from horae_client.models import Page, Secret
from horae_client.wire import Request, path, said


def put(name: str, value: str, hosts: Sequence[str] | None) -> Request[Secret]:
    """Create or replace a secret. A repeated request only increments the version."""
    body = said(value=value, hosts=None if hosts is None else list(hosts))
    return Request("PUT", path("secrets", name), Secret, body=body)


def remove(name: str) -> Request[Secret]:
    """Remove a secret. It is not retried after a lost answer, because a second removal finds nothing."""
    return Request("DELETE", path("secrets", name), Secret, again=False)


def secrets() -> Request[Page[Secret]]:
    """Get a page of secrets."""
    return Request("GET", path("secrets"), Page[Secret])
