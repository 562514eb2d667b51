"""Reads the list of a source, page by page, from a URL or from another PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from horae.delivery import sources as asking
from horae.delivery.push import Sender
from horae.delivery.secrets import Unsendable, check_host, secret_for_hosts
from horae.domain.connections import dsn as dsns
from horae.domain.connections.dsn import Dsn
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_as
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import ListedTask, check_order
from horae.domain.sources.sources import LAST, HttpSource, PushSource, SqlSource, TaskSource, secrets_of
from horae.domain.targets.egress import Egress
from horae.store.sources import foreign_tables


class ListPage(NamedTuple):
    """Items of a list in the order of their keys, the key up to which they are complete, and the next cursor."""

    listed: list[ListedTask]
    upto: str
    next: str | None


Read = Callable[[TaskSource, bool], Awaitable[ListPage]]
"""Reads the page at a source's position. The second argument says that no part of the page was compared yet."""


class _Item(msgspec.Struct):
    key: str
    at: datetime
    version: int | None = None
    payload: Any = msgspec.UNSET


@asynccontextmanager
async def open_list(sender: Sender, job: Job, source: TaskSource, egress: Egress) -> AsyncIterator[Read]:
    """Yields a function that reads pages of a source, for the length of the block."""
    match source.spec.origin:
        case HttpSource() as url:
            yield lambda at, fresh: _asked(sender, job, url, at, fresh)
        case SqlSource() as table:
            dsn, ca = _secrets(sender, job, table)
            address = await _address(sender, job, dsn, egress)
            async with foreign_tables.open_reader(dsn, address, seconds=table.timeout, ca=ca) as reader:
                yield lambda at, _fresh: _selected(reader, table, at)
        case PushSource():
            raise Invalid("what is pushed is not asked for")


async def _asked(sender: Sender, job: Job, origin: HttpSource, at: TaskSource, fresh: bool) -> ListPage:
    said = await asking.page(sender, job, origin, at.cursor)
    listed = _tasks_of(said.items)
    check_order([one.key for one in listed], at.after if fresh else "")
    if said.next is None:
        return ListPage(listed, LAST, None)
    if not listed:
        raise Invalid("the source answered an empty page and a cursor of another: that would never end")
    return ListPage(listed, listed[-1].key, said.next)


async def _selected(reader: foreign_tables.ForeignReader, origin: SqlSource, at: TaskSource) -> ListPage:
    found = await reader.page(origin.statement, at.after, origin.page)
    listed = _tasks_of(found.rows)
    check_order([one.key for one in listed], at.after)
    return ListPage(listed, LAST if found.ended else listed[-1].key, None)


def _tasks_of(items: Sequence[Mapping[str, Any]]) -> list[ListedTask]:
    try:
        read = read_as(items, list[_Item])
    except Unreadable as error:
        raise Invalid(f"a source gives key (text), at (with its offset), version and payload: {error}") from error
    if any(one.at.tzinfo is None for one in read):
        raise Invalid("a source's times need their offset, for example 2026-11-15T09:00:00+08:00")
    return [ListedTask(one.key, one.at, one.version, one.payload) for one in read]


def _secrets(sender: Sender, job: Job, origin: SqlSource) -> tuple[Dsn, str | None]:
    try:
        text = secret_for_hosts(sender.secrets, job.tenant_id, origin.dsn)
        ca = secret_for_hosts(sender.secrets, job.tenant_id, origin.ca) if origin.ca else None
        dsn = dsns.parse(text)
        for name in secrets_of(origin):
            check_host(sender.secrets, job.tenant_id, name, dsn.host)
    except Unsendable as error:
        raise Unavailable(str(error)) from error
    return dsn, ca


async def _address(sender: Sender, job: Job, dsn: Dsn, egress: Egress) -> str:
    """Returns the first address of a host, if the egress rules allow all of its addresses."""
    try:
        addresses = await sender.client.addresses(dsn.host, dsn.port, job.tenant_id)
    except (OSError, ValueError) as error:
        raise Unavailable(f"the source's host has no address: {type(error).__name__}") from error
    why = egress.refusal(secure=dsn.secure, port=dsn.port, addresses=addresses)
    if why is not None or not addresses:
        raise Unavailable(f"the source's database may not be reached: {why}")
    return addresses[0]
