"""Every zone, every clock change from 1970 to 2037, every dialect and policy, against the plain oracle."""

import random
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo._zoneinfo import ZoneInfo as ReadableZone

import pytest

from horae.domain import zones
from horae.domain.cron import Dialect, DstPolicy, count, parse
from horae.domain.errors import InvalidSchedule
from tests.domain.cron import generate
from tests.domain.cron.oracle import EPOCH, Plain, Wall, plain_zone, utc

HOUR = 3600
SINCE, UNTIL = 0, 2_145_916_800  # 1970 to 2037
POLICIES = [(gap, overlap) for gap in ("fire_after", "skip") for overlap in ("first", "second", "both")]
MOST_FIRES = 20
SHARDS = 4


def changes(name):
    """The instants at which the zone's offset changes, read by the standard library's slow twin."""
    from importlib import resources

    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        listed = ReadableZone.from_file(file, key=name)._trans_utc
    return [at for at in listed if SINCE <= at < UNTIL]


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
    run(seed=1 + half, share=slice(half, None, 2), per_zone=2, cases=21, at_least=10_000)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_change_of_every_zone_agrees_with_the_oracle(shard):
    run(
        seed=100 + shard,
        share=slice(shard, None, SHARDS),
        per_zone=None,
        cases=56,
        at_least=1_000_000 // SHARDS,
    )


def run(seed, share, per_zone, cases, at_least):
    chance, seen, done = random.Random(seed), Counter(), 0
    for name in sorted(zones.names())[share]:
        found = changes(name) or [chance.randrange(SINCE, UNTIL, 60)]  # a zone that never changes has other days
        picked = found if per_zone is None else chance.sample(found, min(per_zone, len(found)))
        for at in picked:
            done += compare(name, at, chance, cases, seen)
    assert done >= at_least, seen
    assert all(seen[dialect] > at_least // 8 for dialect in Dialect)
    assert all(seen[DstPolicy(*policy)] > at_least // 12 for policy in POLICIES)
