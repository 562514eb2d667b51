"""Live tails: a caller gets the lines of an instance as they are written, until the instance ends.

1. A tail reads the lines after its mark, by the primary key, and waits.
2. Lines that are appended in the same process wake it at once.
3. Lines of other processes are found by the next read, `POLL_INTERVAL_S` later. There is no notification through
   PostgreSQL: it would take a lock that all commits of the database share.
4. It ends after `MAX_TAIL_S`, so that a revoked key sees no more lines. The caller asks again from its mark.
"""

from collections.abc import AsyncIterator
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances.lifecycle import LIVE
from horae.domain.instances.logs import LogMark, NumberedLine
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.service.context import Context
from horae.service.instances import logs, searches
from horae.store.tx import GONE

BROKEN: Final[tuple[type[Exception], ...]] = (HoraeError, *GONE)
"""Errors that end a tail."""
POLL_INTERVAL_S: Final = 0.5
"""Seconds between two reads of a tail."""
STATE_INTERVAL_S: Final = 1.0
"""Seconds between two looks at the state of the instance."""
LINES_PER_READ: Final = 1000
MAX_TAIL_S: Final = 60.0
"""Seconds after which a tail ends; its caller continues with a new request."""


class TailNews(NamedTuple):
    """New lines, and the mark after them. `state`: the instance has ended in it, and there are no more lines."""

    lines: list[NumberedLine]
    mark: LogMark
    state: str | None = None


async def follow(ctx: Context, instance_id: UUID, mark: LogMark) -> AsyncIterator[TailNews]:
    """Yields lines after a mark as they come; news without lines show that the tail lives.

    The state is read before the lines: where the instance had ended, these lines were the last ones.
    """
    try:
        with ctx.memory.tails.join(ctx.tenant.id, instance_id) as waker:
            async for news in _follow(ctx, instance_id, mark, waker):
                yield news
    except BROKEN as error:  # the answer has begun: the caller asks again and gets the refusal
        log.warning("log.tail_ended", reason=str(error) or type(error).__name__)


async def _follow(ctx: Context, instance_id: UUID, mark: LogMark, waker: Waker) -> AsyncIterator[TailNews]:
    until, state_at, ended = boottime() + MAX_TAIL_S, 0.0, None
    while not ctx.memory.tails.is_closed and boottime() < until:
        if ended is None and boottime() >= state_at:
            state = (await searches.find(ctx, instance_id)).state
            ended, state_at = None if state in LIVE else state, boottime() + STATE_INTERVAL_S
        page = await logs.read(ctx, instance_id, mark, LINES_PER_READ)
        mark = page.next
        is_last = page.is_end and ended is not None
        yield TailNews(page.lines, mark, ended if is_last else None)
        if is_last:
            return
        if page.is_end:
            await waker.wait(POLL_INTERVAL_S)
