"""Routes of log lines: a page of them, and a live tail as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import Header
from starlette.responses import StreamingResponse

from horae.api.models.logs import LogLineView, line_fields
from horae.api.pages import Page, Paged
from horae.api.routes.runs import InstanceId
from horae.api.routing import may, router
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, private
from horae.domain.instances.logs import BEGIN, MAX_LINE_NUMBER, LogMark
from horae.service.context import Context
from horae.service.instances import logs, tails
from horae.service.instances.tails import TailNews

routes = router("logs")
EVENTS: Final = "text/event-stream"
MAX_ATTEMPT: Final = 2**31 - 1
ALIVE: Final = b": alive\n\n"
"""A comment: it shows proxies and the caller that the tail lives."""
LastEvent = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=40,
        description="The id of the last event that was read: the tail continues after it.",
    ),
]
_encode = msgspec.json.Encoder().encode


@routes.get("/instances/{instance}/logs")
async def list_log_lines(
    ctx: Annotated[Context, may("payloads.read")], instance: InstanceId, paging: Paged
) -> Page[LogLineView]:
    """List the lines that the attempts of an instance logged, oldest first. Lines are kept for some days only."""
    id_ = private(Prefix.INSTANCE, instance)
    await logs.check_readable(ctx, id_)
    page = await logs.read(ctx, id_, LogMark(*paging.after) if paging.after else BEGIN, paging.limit)
    return paging.page_of([LogLineView.of(one) for one in page.lines], None if page.is_end else list(page.next))


@routes.get(
    "/instances/{instance}/logs/tail",
    response_class=StreamingResponse,
    responses={200: {"description": "Events `line`, `dropped` and `end`.", "content": {EVENTS: {}}}},
)
async def tail_log_lines(
    ctx: Annotated[Context, may("payloads.read")], instance: InstanceId, last_event: LastEvent = None
) -> StreamingResponse:
    """Stream the lines of an instance as they are written, as server-sent events, from the beginning on.

    `line` and `dropped` carry a line or a mark. `end` says that the instance has ended and there are no more lines.
    Where the stream ends without it, ask again with `Last-Event-ID`; browsers do so by themselves.
    """
    id_, mark = private(Prefix.INSTANCE, instance), mark_of(last_event)
    await logs.check_readable(ctx, id_)
    ctx.memory.tails.check_room(ctx.tenant.id)
    return StreamingResponse(_events(ctx, id_, mark), media_type=EVENTS)


async def _events(ctx: Context, instance_id: UUID, mark: LogMark) -> AsyncIterator[bytes]:
    async for news in tails.follow(ctx, instance_id, mark):
        yield b"".join(_event(news)) or ALIVE


def _event(news: TailNews) -> list[bytes]:
    """Returns the events of news. The id of an event is the mark after it."""
    said = []
    for one in news.lines:
        name = "dropped" if one.line is None else "line"
        after = one.number + (one.line is not None)
        said.append(
            b"id: %d.%d\nevent: %b\ndata: %b\n\n" % (one.attempt, after, name.encode(), _encode(line_fields(one)))
        )
    if news.state is not None:
        said.append(b"event: end\ndata: %b\n\n" % _encode({"state": news.state}))
    return said


def mark_of(text: str | None) -> LogMark:
    """Returns the mark that the id of an event names."""
    if text is None:
        return BEGIN
    attempt, _, number = text.partition(".")
    if not (attempt.isdecimal() and number.isdecimal() and attempt.isascii() and number.isascii()):
        raise Invalid("Last-Event-ID is the id of an event of this stream")
    return LogMark(min(int(attempt), MAX_ATTEMPT), min(int(number), MAX_LINE_NUMBER))
