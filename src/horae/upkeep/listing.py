"""Reads what a source lists, page by page, wherever that is: behind a URL, or in another's PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from horae.delivery import sources as asking
from horae.delivery.push import Sender
from horae.delivery.secrets import Unsendable, check_host, take
from horae.domain import dsn as dsns
from horae.domain.comparisons import Wanted, check_order
from horae.domain.dsn import Dsn
from horae.domain.egress import Egress
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_as
from horae.domain.jobs import Job
from horae.domain.sources import LAST, HttpSource, PushSource, Source, SqlSource, secrets_of
from horae.store import foreign


class Page(NamedTuple):
    """Some of the list in the order of its keys, up to which key it is whole, and the cursor of the next page."""

    listed: list[Wanted]
    upto: str
    next: str | None


Read = Callable[[Source, bool], Awaitable[Page]]
"""The page a source stands at. `fresh`: nothing of it was compared yet."""


class _Item(msgspec.Struct):
    key: str
    at: datetime
    version: int | None = None
    payload: Any = msgspec.UNSET


@asynccontextmanager
async def opened(sender: Sender, job: Job, source: Source, egress: Egress) -> AsyncIterator[Read]:
    """A way to read a source's pages while the block lasts."""
    match source.spec.origin:
        case HttpSource() as url:
            yield lambda at, fresh: _asked(sender, job, url, at, fresh)
        case SqlSource() as table:
            dsn, ca = _secrets(sender, job, table)
            address = await _address(sender, job, dsn, egress)
            async with foreign.reading(dsn, address, seconds=table.timeout, ca=ca) as reader:
                yield lambda at, _fresh: _selected(reader, table, at)
        case PushSource():
            raise Invalid("what is pushed is not asked for")


async def _asked(sender: Sender, job: Job, origin: HttpSource, at: Source, fresh: bool) -> Page:
    said = await asking.page(sender, job, origin, at.cursor)
    listed = _listed(said.items)
    check_order([one.key for one in listed], at.after if fresh else "")
    if said.next is None:
        return Page(listed, LAST, None)
    if not listed:
        raise Invalid("the source answered an empty page and a cursor of another: that would never end")
    return Page(listed, listed[-1].key, said.next)


async def _selected(reader: foreign.Reader, origin: SqlSource, at: Source) -> Page:
    found = await reader.page(origin.statement, at.after, origin.page)
    listed = _listed(found.rows)
    check_order([one.key for one in listed], at.after)
    return Page(listed, LAST if found.ended else listed[-1].key, None)


def _listed(items: Sequence[Mapping[str, Any]]) -> list[Wanted]:
    try:
        read = read_as(items, list[_Item])
    except Unreadable as error:
        raise Invalid(f"a source gives key (text), at (with its offset), version and payload: {error}") from error
    if any(one.at.tzinfo is None for one in read):
        raise Invalid("a source's times need their offset, for example 2026-11-15T09:00:00+08:00")
    return [Wanted(one.key, one.at, one.version, one.payload) for one in read]


def _secrets(sender: Sender, job: Job, origin: SqlSource) -> tuple[Dsn, str | None]:
    try:
        text = take(sender.secrets, job.tenant_id, origin.dsn)
        ca = take(sender.secrets, job.tenant_id, origin.ca) if origin.ca else None
        dsn = dsns.parse(text)
        for name in secrets_of(origin):
            check_host(sender.secrets, job.tenant_id, name, dsn.host)
    except Unsendable as error:
        raise Unavailable(str(error)) from error
    return dsn, ca


async def _address(sender: Sender, job: Job, dsn: Dsn, egress: Egress) -> str:
    """The first address of a host, where all of them may be reached."""
    try:
        addresses = await sender.client.addresses(dsn.host, dsn.port, job.tenant_id)
    except (OSError, ValueError) as error:
        raise Unavailable(f"the source's host has no address: {type(error).__name__}") from error
    why = egress.refusal(secure=dsn.secure, port=dsn.port, addresses=addresses)
    if why is not None or not addresses:
        raise Unavailable(f"the source's database may not be reached: {why}")
    return addresses[0]
