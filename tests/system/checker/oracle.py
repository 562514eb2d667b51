"""When a definition should fire, by brute force and with code of its own."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from tests.domain.cron.oracle import Plain, Wall, plain_zone
from tests.system.checker.calls import moment

RIM = 3 * 3600  # a wall is looked at beyond the times asked for: local time may run ahead or behind
INSTANT = timedelta(microseconds=1)


def recurring(definition: dict[str, Any]) -> bool:
    """Whether it fires by itself again and again."""
    return definition["trigger"]["kind"] in {"cron", "interval"}


def fires(definition: dict[str, Any], since: datetime, until: datetime) -> list[datetime]:
    """Every nominal fire from `since` to `until`, both included."""
    if since > until:
        return []
    trigger, policies = definition["trigger"], definition.get("policies", {})
    start, end = moment(policies.get("start")), moment(policies.get("end"))
    found = _cron(trigger, since, until) if trigger["kind"] == "cron" else _interval(trigger, since, until)
    return [at for at in found if (start is None or at >= start) and (end is None or at < end)]


def _interval(trigger: dict[str, Any], since: datetime, until: datetime) -> list[datetime]:
    anchor, step = moment(trigger["anchor"]), timedelta(seconds=trigger["every"])
    assert anchor is not None
    number = max(0, -((anchor - since) // step) - 1)
    found = []
    while (at := anchor + number * step) <= until:
        if at >= since:
            found.append(at)
        number += 1
    return found


def _cron(trigger: dict[str, Any], since: datetime, until: datetime) -> list[datetime]:
    seconds = _walked(
        trigger["expression"],
        trigger["dialect"],
        trigger.get("zone", "UTC"),
        trigger.get("dst_gap", "fire_after"),
        trigger.get("dst_overlap", "first"),
        int(since.timestamp()),
        int(until.timestamp()) + 2,
    )
    return [at for second in seconds if since <= (at := datetime.fromtimestamp(second, UTC)) <= until]


@lru_cache(maxsize=1000)
def _walked(
    expression: str, dialect: str, zone: str, gap: str, overlap: str, since: int, until: int
) -> tuple[int, ...]:
    low = (since - RIM) // 60 * 60
    wall = Wall(plain_zone(zone), low, until + RIM, step=60)
    return tuple(wall.expected(Plain.read(expression, dialect), gap, overlap, since, until))
