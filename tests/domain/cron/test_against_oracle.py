"""Every zone, every clock change from 1970 to 2037, every dialect and policy, against the plain oracle."""

import random
from collections import Counter
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo._zoneinfo import ZoneInfo as ReadableZone

import pytest

from horae.domain.cron import Dialect, DstPolicy, count, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones import zones
from tests.domain.cron import generate
from tests.domain.cron.oracle import EPOCH, Plain, Wall, plain_zone, utc

HOUR, DAY = 3_600, 86_400
SINCE, UNTIL = 0, 2_145_916_800  # 1970 to 2037
POLICIES = [(gap, overlap) for gap in ("fire_after", "skip") for overlap in ("first", "second", "both")]
MOST_FIRES = 20
SHARDS = 4
YEAR = 365 * DAY


@cache
def changes(name, since=SINCE, until=UNTIL):
    """The instants at which the zone's offset changes: those its file lists, and those its yearly rule brings."""
    there = plain_zone(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        listed = ReadableZone.from_file(file, key=name)._trans_utc  # the slow twin lets us look inside
    found = {at for at in listed if since <= at < until and offset(there, at) != offset(there, at - 1)}
    known = offset(there, since)
    for midnight in range(since, until, DAY):
        if offset(there, midnight + DAY) != known:
            known = offset(there, midnight + DAY)
            if not any(midnight < at <= midnight + DAY for at in found):
                found.add(
                    next(at for at in range(midnight + 60, midnight + DAY + 60, 60) if offset(there, at) == known)
                )
    return sorted(found)


def offset(zone, second):
    return datetime.fromtimestamp(second, zone).utcoffset() // timedelta(seconds=1)


def compare(name, at, chance, cases, seen):
    """So many random schedules around one change. Returns how many were compared."""
    there, ours = plain_zone(name), zones.zone(name)
    before, after = offset(there, at - 1), offset(there, at)
    odd = any(value % 60 for value in (before, after, at))
    reach, step = (HOUR, 1) if odd else (12 * HOUR, 60)
    rim = abs(after - before) + 120
    if abs(after - before) > 12 * HOUR:  # a whole day skipped or lived twice
        reach = 60 * HOUR
    wall = Wall(there, at - reach - rim, at + reach + rim, step)
    done = 0
    while done < cases:
        dialect, (gap, overlap) = chance.choice(list(Dialect)), chance.choice(POLICIES)
        local = EPOCH + timedelta(seconds=at + chance.choice((before, after)) + chance.randint(-2 * HOUR, 2 * HOUR))
        text = generate.expression(chance, dialect, local)
        plain = Plain.read(text, dialect)
        try:
            cron = parse(text, dialect)
        except InvalidSchedule as refused:
            assert "never fires" in str(refused), (text, dialect)  # noqa: PT017
            continue
        daily = len(plain.hours) * len(plain.minutes) * len(plain.seconds)
        if daily > 6_000 or (daily > 600 and chance.random() < 0.8):
            continue  # many fires show little more than a few
        width = max(min(reach, 86_400 * MOST_FIRES // (2 * daily)), rim + HOUR)
        since, until = at - width, at + width
        expected = wall.expected(plain, gap, overlap, since, until)
        policy = DstPolicy(gap, overlap)
        got = [int(fire.timestamp()) for fire in cron.fires(utc(since), utc(until), ours, policy)]
        assert got == expected, (name, utc(at), text, dialect, gap, overlap)
        if done % 4 == 0:
            assert count(cron, utc(since), utc(until), ours, policy) == len(got), (name, utc(at), text, dialect)
        from_here = chance.randint(since, until - 1)
        following = cron.next(utc(from_here), ours, policy)
        coming = [fire for fire in expected if fire > from_here]
        if coming:
            assert following == utc(coming[0]), (name, utc(from_here), text, dialect, gap, overlap)
        else:
            assert following is None or following >= utc(until), (name, utc(from_here), text, dialect)
        done += 1
        seen[dialect] += 1
        seen[policy] += 1
        seen["fires"] += len(got)
    return done


@pytest.mark.parametrize("half", [0, 1])
def test_every_zone_and_policy_agrees_with_the_oracle(half):
    """Two changes of every zone, out of three years drawn by lot."""
    chance, seen, done = random.Random(1 + half), Counter(), 0
    for name in sorted(zones.names())[half::2]:
        since = chance.randrange(SINCE, UNTIL - 3 * YEAR, DAY)
        found = changes(name, since, since + 3 * YEAR)
        # A zone without a change has other days, too.
        picked = chance.sample(found, 2) if len(found) >= 2 else [*found, chance.randrange(SINCE, UNTIL, 60)]
        done += sum(compare(name, at, chance, 34 // len(picked), seen) for at in picked)
    judge(seen, done, 10_000)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_change_of_every_zone_agrees_with_the_oracle(shard):
    chance, seen, done = random.Random(100 + shard), Counter(), 0
    for name in sorted(zones.names())[shard::SHARDS]:
        found = changes(name) or [chance.randrange(SINCE, UNTIL, 60)]
        done += sum(compare(name, at, chance, 40, seen) for at in found)
    judge(seen, done, 1_000_000 // SHARDS)


def judge(seen, done, at_least):
    assert done >= at_least, seen
    assert all(seen[dialect] > at_least // 8 for dialect in Dialect)
    assert all(seen[DstPolicy(*policy)] > at_least // 12 for policy in POLICIES)
