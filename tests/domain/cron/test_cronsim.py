"""cronsim, which follows Debian's cron, as a witness for `unix5`. Our reasons to differ are in docs/time.md."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice

from cronsim import CronSim, CronSimError

from horae.domain.cron import Dialect, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones.zones import zone
from tests.domain.cron import generate
from tests.domain.cron.test_against_oracle import changes, offset

FIRES = 20
START = datetime(2000, 1, 1, tzinfo=UTC)
PLACES = ["America/New_York", "Europe/Berlin", "Asia/Beirut", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia"]


def both(text, start, place):
    try:
        theirs = [fire.astimezone(UTC) for fire in islice(CronSim(text, start.astimezone(place)), FIRES)]
    except CronSimError:
        theirs = "refused"
    try:
        cron, ours, at = parse(text, Dialect.UNIX5), [], start
        while len(ours) < FIRES and (at := cron.next(at, place)) is not None:
            ours.append(at)
    except InvalidSchedule:
        ours = "refused"
    return ours, theirs


def explanation(text, ours, theirs, change=None):
    """The reason, in a few words of docs/time.md, why two answers may differ; nothing when they may not."""
    minute, hour, day, _, weekday = text.split()
    if theirs == "refused":
        if ours == "refused":
            return "both refuse"
        if "W" in day.replace("LW", "") or "L-" in day:
            return "W and L-n are ours"
        return "names before L are ours" if weekday.endswith("L") else None
    if change is None:
        return None
    place, at = change
    before, after = offset(place, at - 1), offset(place, at)
    if minute.startswith("*") and not hour.startswith("*"):
        return "named hours follow the policy"
    if not hour.startswith("*") and ("/" in hour or hour == "0-23"):
        return "a rhythm of hours keeps real time"
    if (after - before) % 3600:
        return "cronsim loses its place in half an hour"
    midnight = (at + before) // 86_400 != (at + after - 1) // 86_400 or (at + before) % 86_400 == 0
    return "cronsim's imaginary midnight" if after > before and midnight else None


def test_without_clock_changes_every_fire_is_cronsims():
    chance, seen = random.Random(11), Counter()
    for _ in range(3_500):
        near = START + timedelta(seconds=chance.randrange(10**9))
        text = generate.expression(chance, "unix5", near)
        ours, theirs = both(text, near, zone("UTC"))
        if ours != theirs:
            reason = explanation(text, ours, theirs)
            assert reason, (text, near, ours, theirs)
            seen[reason] += 1
    assert sum(seen.values()) < 1_000


def test_around_clock_changes_every_difference_has_a_reason():
    chance, seen = random.Random(12), Counter()
    for _ in range(1_800):
        place = zone(chance.choice(PLACES))
        at = chance.choice(changes(place.key))
        near = datetime.fromtimestamp(at - chance.randrange(7_200), UTC)
        text = generate.expression(chance, "unix5", near.astimezone(place) + timedelta(hours=chance.randrange(3)))
        ours, theirs = both(text, near, place)
        if ours != theirs:
            # Twenty fires may reach a later change than the one we stand at: then that one explains it.
            reached = (
                [c for c in changes(place.key) if at <= c <= max(ours + theirs).timestamp()]
                if theirs != "refused"
                else []
            )
            reason = next(filter(None, (explanation(text, ours, theirs, (place, c)) for c in [at, *reached])), None)
            assert reason, (text, near, place, ours, theirs)
            seen[reason] += 1
    assert sum(seen.values()) < 600
