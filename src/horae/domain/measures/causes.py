"""Finds out whom a signal beyond its line concerns: one tenant that is the cause, or the whole platform.

1. A tenant whose own signal is beyond its own line is the cause of that, and nobody else's signal contains it.
2. The signals of all others together are compared with the line of the platform.
3. If they are beyond it, and without at most `MAX_CAUSES` tenants they are not, these tenants are the cause, provided
   that they make up most of what is wrong. Otherwise the platform is concerned.

So a tenant that lets its own jobs fail closes no entrance of another tenant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.health.signals import BOUNDS_MS, BUCKETS, NOBODY, percentile_ms
from horae.domain.measures.judgement import LinePosition, compare
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureLines, MeasureName

MIN_RUNS: Final = 200
"""Runs on which a success rate is judged at least."""
MIN_FIRES: Final = 20
"""Fires of a minute on which a percentile is judged at least."""
MAX_CAUSES: Final = 3
"""Tenants that can be the cause together; more are a trouble of the platform."""
P95: Final = 0.95


class MeasureSignal(NamedTuple):
    """The signals of one minute, of one tenant or of several together.

    - `delays`: trigger delays of the minute as a histogram. They include the time at breakers and limits, and not the
      time for which a measure withheld a fire.
    - `succeeded`, `died`: runs that ended in ten minutes; `died_in_minute`: in this minute.
    """

    delays: Sequence[int] = (0,) * BUCKETS
    succeeded: int = 0
    died: int = 0
    died_in_minute: int = 0
    retry_backlog: int = 0


class ScopeReading(NamedTuple):
    """A signal of one scope, compared with its line. `value` is None if there was too little to judge."""

    reading: LinePosition
    value: float | None


def value_of(name: MeasureName, signal: MeasureSignal) -> float | None:
    """Return the value of a measure's signal; None if there is too little to judge."""
    match name:
        case MeasureName.TRIGGER_DELAY_P95:
            return percentile_ms(signal.delays, P95) if sum(signal.delays) >= MIN_FIRES else None
        case MeasureName.RUN_SUCCESS_RATE_10M:
            runs = signal.succeeded + signal.died
            return signal.succeeded / runs if runs >= MIN_RUNS else None
        case MeasureName.RETRY_BACKLOG:
            return signal.retry_backlog
        case MeasureName.DLQ_GROWTH_RATE:
            return signal.died_in_minute
        case MeasureName.PEAK_LOAD | MeasureName.INCIDENT:
            return None  # a load belongs to nodes, not to tenants; an incident has no signal


def judge_scopes(
    name: MeasureName,
    signals: Mapping[UUID, MeasureSignal],
    platform_lines: MeasureLines,
    lines_of: Callable[[UUID], MeasureLines],
) -> dict[UUID, ScopeReading]:
    """Compare a measure's signal with the lines of the platform and of each tenant that is not CLEAR."""
    found: dict[UUID, ScopeReading] = {}
    rest: dict[UUID, MeasureSignal] = {}
    for tenant_id, signal in signals.items():
        value = value_of(name, signal)
        reading = LinePosition.CLEAR if tenant_id == NOBODY else compare(name, value, lines_of(tenant_id).line(name))
        if reading is not LinePosition.CLEAR:
            found[tenant_id] = ScopeReading(reading, value)
        if reading is not LinePosition.OVER:
            rest[tenant_id] = signal
    line = platform_lines.line(name)
    platform = _read(name, rest.values(), line)
    if platform.reading is LinePosition.OVER:
        causes = _causes(name, rest, line)
        for tenant_id in causes:
            found[tenant_id] = ScopeReading(LinePosition.OVER, value_of(name, rest.pop(tenant_id)))
        if causes:
            platform = _read(name, rest.values(), line)
    found[PLATFORM_SCOPE] = platform
    return found


def _causes(name: MeasureName, signals: Mapping[UUID, MeasureSignal], line: float) -> list[UUID]:
    """Return the few tenants without which the others are not beyond the line; none if there are no such tenants."""
    shares = {tenant_id: _share(name, signal, line) for tenant_id, signal in signals.items() if tenant_id != NOBODY}
    worst = sorted(shares, key=lambda tenant_id: (-shares[tenant_id], tenant_id))[:MAX_CAUSES]
    total = sum(_share(name, signal, line) for signal in signals.values())
    for many in range(1, len(worst) + 1):
        causes = worst[:many]
        others = [signal for tenant_id, signal in signals.items() if tenant_id not in causes]
        most = 2 * sum(shares[tenant_id] for tenant_id in causes) >= total
        if most and _read(name, others, line).reading is not LinePosition.OVER:
            return causes
    return []


def _share(name: MeasureName, signal: MeasureSignal, line: float) -> int:
    """Return how much of what is wrong is in a signal: late fires, dead runs, or waiting retries."""
    match name:
        case MeasureName.TRIGGER_DELAY_P95:
            late = zip(signal.delays, (*BOUNDS_MS, float("inf")), strict=True)
            return sum(many for many, high in late if high > line)
        case MeasureName.RUN_SUCCESS_RATE_10M:
            return signal.died
        case MeasureName.RETRY_BACKLOG:
            return signal.retry_backlog
        case _:
            return signal.died_in_minute


def _read(name: MeasureName, signals: Iterable[MeasureSignal], line: float) -> ScopeReading:
    value = value_of(name, add_signals(list(signals)))
    return ScopeReading(compare(name, value, line), value)


def add_signals(signals: Sequence[MeasureSignal]) -> MeasureSignal:
    """Return the sum of signals."""
    if not signals:
        return MeasureSignal()
    return MeasureSignal(
        tuple(map(sum, zip(*(signal.delays for signal in signals), strict=True))),
        sum(signal.succeeded for signal in signals),
        sum(signal.died for signal in signals),
        sum(signal.died_in_minute for signal in signals),
        sum(signal.retry_backlog for signal in signals),
    )
