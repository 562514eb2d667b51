"""How late fires were, by the second of the minute at which they were due. A crowd at :00 is visible there.

No counter is kept: the history rows are read on request.
"""

from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from horae.domain.errors import Unavailable
from horae.domain.health.signals import BUCKETS, percentile_ms
from horae.service.context import CallerContext
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.events import feeds
from horae.store.instances import history
from horae.store.row_level_security import PLATFORM, restrict
from horae.store.tx import Tx

MAX_LATENESS_SPAN: Final = timedelta(hours=1)
"""The longest span of time that can be read."""


class SecondLateness(NamedTuple):
    """The fires due at one second of any minute: their number, and the 50th and 95th percentile of their delay."""

    second: int
    fires: int
    p50_ms: int
    p95_ms: int


class Lateness(NamedTuple):
    """The seconds of the minute that had fires, from 0 to 59. Cells that are down are named and left out."""

    seconds: list[SecondLateness]
    cells_down: list[str]


async def by_second(ctx: CallerContext, since: timedelta) -> Lateness:
    """Returns the lateness of the fires of all tenants that ended within `since`, without retried ones."""

    async def look(tx: Tx) -> list[tuple[int, int, int]]:
        begin = tx.now - min(since, MAX_LATENESS_SPAN)
        marks = await feeds.transactions_between(tx, begin, tx.now)
        return await history.lateness(tx, marks.since, begin)

    seen = await ask_each(restrict(ctx.store, PLATFORM).cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the last minutes")
    delays: dict[int, list[int]] = {}
    for rows in seen.found.values():
        for second, bucket, many in rows:
            delays.setdefault(second, [0] * BUCKETS)[bucket] += many
    return Lateness([_lateness(second, row) for second, row in sorted(delays.items())], seen.down)


def _lateness(second: int, delays: list[int]) -> SecondLateness:
    return SecondLateness(second, sum(delays), percentile_ms(delays, 0.5), percentile_ms(delays, 0.95))
