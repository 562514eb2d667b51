"""Computes from the effects at a receiver how late fires were, and how long it took until all were in time again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

IN_TIME: Final = timedelta(seconds=2)
"""How late an effect may be: the line of `trigger_delay_p95`."""
PERIOD: Final = timedelta(seconds=1)
"""The time between two fires of a job of the load."""
CALM: Final = timedelta(seconds=5)
"""For how long all fires must be in time until all is well."""
P95: Final = 0.95


class Effect(NamedTuple):
    """A fire that took effect: the receiver answered with 200 for the first time at `at`."""

    job: str
    fire_time: datetime
    at: datetime

    @property
    def is_in_time(self) -> bool:
        """Whether it was not later than `IN_TIME`."""
        return self.at - self.fire_time <= IN_TIME


class SecondFigures(NamedTuple):
    """One second of a drill: how many effects, and how late they were; None in a second without effects."""

    effects: int
    late_p95_ms: int | None


class AcknowledgedWrite(NamedTuple):
    """A task whose creation was acknowledged at `at`."""

    key: str
    at: datetime


class Recovery(NamedTuple):
    """How a fault was survived.

    - `rto_s`: seconds until the first fire from which on all were in time; None where they never were.
    - `caught_up_s`: seconds until the last late effect.
    - `late`: fires that took effect late. `lost`: fires without an effect until the end.
    """

    rto_s: float | None
    caught_up_s: float
    late: int
    lost: int


def recovery(
    effects: Iterable[Effect], anchors: Mapping[str, datetime], since: datetime, until: datetime, counted_from: datetime
) -> Recovery:
    """Compare the effects with the fires that were due from `since` to `until`.

    `anchors` has the first fire of each job. Times count from `counted_from`; what was in time before is not counted.
    """
    first = dict[tuple[str, datetime], Effect]()
    for one in effects:
        key = (one.job, one.fire_time)
        if key not in first or one.at < first[key].at:
            first[key] = one
    due = [(job, at) for job, anchor in anchors.items() for at in _fires(anchor, since, until)]
    late = [first[fire] for fire in due if fire in first and not first[fire].is_in_time]
    lost = [fire for fire in due if fire not in first]
    bad = [*(one.fire_time for one in late), *(at for _, at in lost)]
    good_from = max(bad, default=counted_from - PERIOD) + PERIOD
    ended = max((one.at for one in late), default=counted_from)
    return Recovery(
        None if good_from > until - PERIOD else max(0.0, _seconds(good_from - counted_from)),
        max(0.0, _seconds(ended - counted_from)),
        len(late),
        len(lost),
    )


def is_calm(effects: Iterable[Effect], anchors: Mapping[str, datetime], since: datetime, now: datetime) -> bool:
    """Whether every fire of the last `CALM` took effect in time. It must begin after `since`."""
    until = now - IN_TIME
    begins = until - CALM
    if begins < max(since, *anchors.values()):
        return False
    found = {(one.job, one.fire_time) for one in effects if one.is_in_time}
    return all((job, at) in found for job, anchor in anchors.items() for at in _fires(anchor, begins, until))


def figures(effects: Iterable[Effect], since: datetime, until: datetime) -> list[SecondFigures]:
    """The effects of each second, and how late 95 % of them were at most."""
    seconds: list[list[int]] = [[] for _ in range(max(1, -(-(until - since) // PERIOD)))]
    for one in effects:
        place = (one.at - since) // PERIOD
        if 0 <= place < len(seconds):
            seconds[place].append(max(0, round((one.at - one.fire_time).total_seconds() * 1000)))
    return [SecondFigures(len(delays), percentile(delays)) for delays in seconds]


def percentile(delays_ms: Sequence[int]) -> int | None:
    """The delay that 95 % of these do not exceed."""
    return sorted(delays_ms)[min(len(delays_ms) - 1, int(len(delays_ms) * P95))] if delays_ms else None


def rpo_s(acknowledged: Iterable[AcknowledgedWrite], known: Collection[str], broken_at: datetime) -> float:
    """How long before the fault the oldest write was acknowledged that is missing; 0 if none is."""
    missing = [one.at for one in acknowledged if one.key not in known]
    return max(0.0, _seconds(broken_at - min(missing))) if missing else 0.0


def _fires(anchor: datetime, since: datetime, until: datetime) -> list[datetime]:
    """The fires of a job from `since` to `until` (excluded)."""
    first, last = max(0, -((anchor - since) // PERIOD)), -((anchor - until) // PERIOD)
    return [anchor + number * PERIOD for number in range(first, last)]


def _seconds(span: timedelta) -> float:
    return round(span.total_seconds(), 2)
