"""The tick of a cron schedule that is current: the last fire up to a time.

A cron engine looks for the next fire. The last one is found by halving: the later a search begins, the later the fire
that it finds.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from horae.domain.cron import CronExpression, DstPolicy

FIRST_LOOK_S: Final = 64
LONGEST_LOOK_S: Final = 9 * 366 * 86_400
"""How far back a fire is looked for: 29 February comes once in eight years at the worst."""
MOST_SCHEDULES: Final = 4096


class _KnownTick:
    """The tick that was current when it was asked for last, and the one after it, in seconds since 1970."""

    def __init__(self) -> None:
        self.start = self.end = 0


@lru_cache(maxsize=MOST_SCHEDULES)
def _known(_cron: CronExpression, _zone: str, _policy: DstPolicy) -> _KnownTick:
    return _KnownTick()


def last_fire(cron: CronExpression, at: datetime, zone: ZoneInfo, policy: DstPolicy) -> datetime | None:
    """Return the last fire at or before a time; None where there was none for years.

    Nodes ask every second, so the answer is kept until the next fire.
    """
    second = int(at.timestamp() // 1)
    known = _known(cron, zone.key, policy)
    if not known.start <= second < known.end:
        found = _search(cron, second, zone, policy)
        if found is None:
            return None
        following = cron.find(found + 1, zone, policy)[0]
        known.start, known.end = found, second + 1 if following is None else following
    return datetime.fromtimestamp(known.start, UTC)


def _search(cron: CronExpression, second: int, zone: ZoneInfo, policy: DstPolicy) -> int | None:
    """Double the look back until a fire is in it, then halve until the fire found is the last one."""
    late, look = second + 1, FIRST_LOOK_S
    early = second - look
    while not _has_fire(cron, early, second, zone, policy):
        if look > LONGEST_LOOK_S:
            return None
        late, look = early, look * 2
        early = second - look
    while late - early > 1:  # a search from `early` finds a fire up to `second`, one from `late` does not
        middle = (early + late) // 2
        if _has_fire(cron, middle, second, zone, policy):
            early = middle
        else:
            late = middle
    return early


def _has_fire(cron: CronExpression, since: int, until: int, zone: ZoneInfo, policy: DstPolicy) -> bool:
    found = cron.find(since, zone, policy)[0]
    return found is not None and found <= until
