"""How late fires were, by the second of the minute at which they were due: a crowd at :00 shows where it stands.

Nothing is counted per fire: the history that every fire leaves is read when somebody asks.
"""

from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from horae.domain.errors import Unavailable
from horae.domain.signals import BUCKETS, percentile_ms
from horae.store import feeds, history
from horae.store.cells import Store
from horae.store.each import ask_by_statement, ask_each
from horae.store.tx import Tx
from horae.store.walls import PLATFORM, behind

LONGEST: Final = timedelta(hours=1)


class SecondLateness(NamedTuple):
    """The fires that were due at one second of any minute: how many, and within which delay half and 95 % of them."""

    second: int
    fires: int
    p50_ms: int
    p95_ms: int


class Lateness(NamedTuple):
    """Seconds of the minute that had fires, from 0 to 59; cells that do not answer are named and left out."""

    seconds: list[SecondLateness]
    cells_down: list[str]


async def by_second(store: Store, since: timedelta) -> Lateness:
    """Of all tenants' fires that ended within the last minutes; retried ones are left out."""

    async def look(tx: Tx) -> list[tuple[int, int, int]]:
        begin = tx.now - min(since, LONGEST)
        marks = await feeds.marked(tx, begin, tx.now)
        return await history.lateness(tx, marks.since, begin)

    seen = await ask_each(behind(store, PLATFORM).cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the last minutes")
    delays: dict[int, list[int]] = {}
    for rows in seen.found.values():
        for second, bucket, many in rows:
            delays.setdefault(second, [0] * BUCKETS)[bucket] += many
    return Lateness([_lateness(second, row) for second, row in sorted(delays.items())], seen.down)


def _lateness(second: int, delays: list[int]) -> SecondLateness:
    return SecondLateness(second, sum(delays), percentile_ms(delays, 0.5), percentile_ms(delays, 0.95))
