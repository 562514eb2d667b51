"""Which coming fires change when the time zone rules do: a new tzdata release, judged before it is installed."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from horae.domain.cron import DstPolicy
from horae.domain.dst import ELAPSED
from horae.domain.timeline import DAY, EPOCH, reaching
from horae.domain.triggers import CronTrigger

SECOND = timedelta(seconds=1)
SHOWN = 20


class Change(NamedTuple):
    """A job's fires that would no longer happen, and those that would happen instead; the first few of each."""

    key: str
    zone: str
    gone: tuple[datetime, ...]
    new: tuple[datetime, ...]


def changed_zones(
    old: Mapping[str, ZoneInfo], new: Mapping[str, ZoneInfo], since: datetime, until: datetime
) -> dict[str, list[tuple[datetime, datetime]]]:
    """Zones of which the two releases disagree, with the times from and to which they do."""
    found = {}
    for name in sorted(old.keys() & new.keys()):
        differing = _differing(old[name], new[name], since, until)
        if differing:
            found[name] = differing
    return found


def changes(
    jobs: Iterable[tuple[str, CronTrigger]],
    old: Mapping[str, ZoneInfo],
    new: Mapping[str, ZoneInfo],
    since: datetime,
    until: datetime,
) -> list[Change]:
    """The jobs, by key, whose fires from `since` to `until` differ between two releases of the rules."""
    zones = changed_zones(old, new, since, until)
    found = []
    for key, trigger in jobs:
        change = _change(key, trigger, old, new, zones.get(trigger.zone, []))
        if change.gone or change.new:
            found.append(change)
    return found


def _change(
    key: str,
    trigger: CronTrigger,
    old: Mapping[str, ZoneInfo],
    new: Mapping[str, ZoneInfo],
    times: list[tuple[datetime, datetime]],
) -> Change:
    cron, policy = trigger.compiled(), DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    gone: set[datetime] = set()
    added: set[datetime] = set()
    for since, until in times:
        before = set(cron.fires(since, until, old[trigger.zone], policy))
        after = set(cron.fires(since, until, new[trigger.zone], policy))
        gone |= before - after
        added |= after - before
    return Change(key, trigger.zone, tuple(islice(sorted(gone), SHOWN)), tuple(islice(sorted(added), SHOWN)))


def _differing(old: ZoneInfo, new: ZoneInfo, since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """The times at which the offsets differ, a little wider: a gap or overlap reaches to both sides of its change."""
    begin, end = (since - EPOCH) // SECOND, (until - EPOCH) // SECOND
    first, second = _offsets(old, end), _offsets(new, end)
    cuts = sorted({begin, end, *(at for at, _ in first + second if begin < at < end)})
    found: list[tuple[int, int]] = []
    for low, high in pairwise(cuts):
        if _at(first, low) != _at(second, low):
            wide = max(begin, low - DAY), min(end, high + DAY)
            if found and wide[0] <= found[-1][1]:
                wide = found.pop()[0], wide[1]
            found.append(wide)
    return [(EPOCH + low * SECOND, EPOCH + high * SECOND) for low, high in found]


def _offsets(zone: ZoneInfo, end: int) -> list[tuple[int, int]]:
    return [(span.start, span.offset) for span in reaching(zone, ELAPSED, end).spans]


def _at(offsets: list[tuple[int, int]], second: int) -> int:
    return max((start, ahead) for start, ahead in offsets if start <= second)[1]
