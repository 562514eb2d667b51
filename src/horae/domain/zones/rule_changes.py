"""Which coming fires change with the time zone rules: a new tzdata release is checked before it is installed."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from horae.domain.cron import DstPolicy
from horae.domain.schedules.triggers import CronTrigger
from horae.domain.zones.dst import ELAPSED
from horae.domain.zones.timeline import DAY_S, EPOCH, timeline_until

SECOND = timedelta(seconds=1)
MAX_LISTED = 20
"""Fires that are listed per job."""


class RezonedJob(NamedTuple):
    """The fires of a job that would no longer happen, and the new ones; the first few of each."""

    key: str
    zone: str
    gone: tuple[datetime, ...]
    new: tuple[datetime, ...]


def changed_zones(
    old: Mapping[str, ZoneInfo], new: Mapping[str, ZoneInfo], since: datetime, until: datetime
) -> dict[str, list[tuple[datetime, datetime]]]:
    """Return the zones in which the two releases differ, with the spans of time in which they do."""
    found = {}
    for name in sorted(old.keys() & new.keys()):
        differing = _differing_spans(old[name], new[name], since, until)
        if differing:
            found[name] = differing
    return found


def changes(
    jobs: Iterable[tuple[str, CronTrigger]],
    old: Mapping[str, ZoneInfo],
    new: Mapping[str, ZoneInfo],
    since: datetime,
    until: datetime,
) -> list[RezonedJob]:
    """Return the jobs, by key, whose fires from `since` to `until` differ between two releases of the rules."""
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
) -> RezonedJob:
    cron, policy = trigger.compiled(), DstPolicy(trigger.dst_gap, trigger.dst_overlap)
    gone: set[datetime] = set()
    added: set[datetime] = set()
    for since, until in times:
        before = set(cron.fires(since, until, old[trigger.zone], policy))
        after = set(cron.fires(since, until, new[trigger.zone], policy))
        gone |= before - after
        added |= after - before
    return RezonedJob(
        key, trigger.zone, tuple(islice(sorted(gone), MAX_LISTED)), tuple(islice(sorted(added), MAX_LISTED))
    )


def _differing_spans(old: ZoneInfo, new: ZoneInfo, since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """Return the spans in which the offsets differ, a day wider on each side: a gap or overlap crosses its change."""
    begin, end = (since - EPOCH) // SECOND, (until - EPOCH) // SECOND
    first, second = _offsets(old, end), _offsets(new, end)
    cuts = sorted({begin, end, *(at for at, _ in first + second if begin < at < end)})
    found: list[tuple[int, int]] = []
    for low, high in pairwise(cuts):
        if _at(first, low) != _at(second, low):
            wide = max(begin, low - DAY_S), min(end, high + DAY_S)
            if found and wide[0] <= found[-1][1]:
                wide = found.pop()[0], wide[1]
            found.append(wide)
    return [(EPOCH + low * SECOND, EPOCH + high * SECOND) for low, high in found]


def _offsets(zone: ZoneInfo, end: int) -> list[tuple[int, int]]:
    return [(span.start, span.offset) for span in timeline_until(zone, ELAPSED, end).spans]


def _at(offsets: list[tuple[int, int]], second: int) -> int:
    return max((start, ahead) for start, ahead in offsets if start <= second)[1]
