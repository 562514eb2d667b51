"""Measures: their names, lines and actions, and the state of one measure.

A measure has a signal, a line, and actions that are in force while the signal is beyond the line. It is in force for
the whole platform, or for the one tenant that is the cause.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.health.signals import NOBODY

PLATFORM_SCOPE: Final = NOBODY
"""Stands for the whole platform in the place of a tenant."""
JUDGEMENT_LIFETIME: Final = timedelta(minutes=5)
"""How long a measure stays in force after it was last judged: if nobody judges any more, it ends by itself."""
MAX_OVERRIDE: Final = timedelta(days=7)
"""The longest time for which a person may override a measure."""


class MeasureName(StrEnum):
    """The measures, by the names of their signals. `INCIDENT` has none: recovery sets and lifts it."""

    TRIGGER_DELAY_P95 = "trigger_delay_p95"
    RUN_SUCCESS_RATE_10M = "run_success_rate_10m"
    RETRY_BACKLOG = "retry_backlog"
    DLQ_GROWTH_RATE = "dlq_growth_rate"
    PEAK_LOAD = "peak_load"
    INCIDENT = "incident"


class MeasureAction(StrEnum):
    """What a measure does while it is in force."""

    THIN_LOW = "THIN_LOW"
    """Every second fire of a low-priority job is skipped."""
    LIMIT_LOW = "LIMIT_LOW"
    """Low-priority calls are limited to a small part of all calls."""
    PAUSE_LOW = "PAUSE_LOW"
    """No low-priority call is started."""
    ASK_FOR_DISPATCHERS = "ASK_FOR_DISPATCHERS"
    """More nodes are asked for."""
    SLOW_RETRIES = "SLOW_RETRIES"
    """Retries run at half of their rate: the pause before each is twice as long."""
    CLOSE_BACKFILLS = "CLOSE_BACKFILLS"
    """No backfill can be started."""
    SHORT_RETRIES_FIRST = "SHORT_RETRIES_FIRST"
    """Retries of jobs with long runs wait longer than those of jobs with short runs."""
    CORE_ONLY = "CORE_ONLY"
    """Only critical work is started."""
    CRITICAL_FIRST = "CRITICAL_FIRST"
    """Critical work is read and started before any other work."""


Level = tuple[int, frozenset[MeasureAction]]
"""After how many minutes in a row beyond the line a level is reached, and its actions."""
LEVELS: Final[Mapping[MeasureName, tuple[Level, ...]]] = {
    MeasureName.TRIGGER_DELAY_P95: (
        (1, frozenset({MeasureAction.LIMIT_LOW})),
        (5, frozenset({MeasureAction.PAUSE_LOW, MeasureAction.ASK_FOR_DISPATCHERS})),
    ),
    MeasureName.RUN_SUCCESS_RATE_10M: ((1, frozenset({MeasureAction.SLOW_RETRIES, MeasureAction.CLOSE_BACKFILLS})),),
    MeasureName.RETRY_BACKLOG: ((1, frozenset({MeasureAction.SHORT_RETRIES_FIRST})),),
    MeasureName.DLQ_GROWTH_RATE: ((1, frozenset({MeasureAction.CORE_ONLY})),),
    MeasureName.PEAK_LOAD: ((1, frozenset({MeasureAction.THIN_LOW})),),
    MeasureName.INCIDENT: (
        (1, frozenset({MeasureAction.PAUSE_LOW, MeasureAction.CLOSE_BACKFILLS, MeasureAction.CRITICAL_FIRST})),
    ),
}
"""The levels of each measure, the mildest first."""
JUDGED: Final = tuple(name for name in MeasureName if name != MeasureName.INCIDENT)
"""The measures that have a signal."""


class MeasureLines(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The lines beyond which measures come into force, of the platform or of one tenant."""

    trigger_delay_p95_ms: float = 2000
    run_success_rate_10m: float = 0.995
    retry_backlog: float = 200_000
    dlq_growth_per_min: float = 1000
    peak_load: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.run_success_rate_10m < 1 or not 0 < self.peak_load <= 1:
            raise Invalid("a success rate and a load are parts of one: greater than 0 and less than 1")
        if min(self.trigger_delay_p95_ms, self.retry_backlog, self.dlq_growth_per_min) <= 0:
            raise Invalid("the line of a measure is greater than 0")

    def line(self, name: MeasureName) -> float:
        """Return the line of a measure."""
        return {
            MeasureName.TRIGGER_DELAY_P95: self.trigger_delay_p95_ms,
            MeasureName.RUN_SUCCESS_RATE_10M: self.run_success_rate_10m,
            MeasureName.RETRY_BACKLOG: self.retry_backlog,
            MeasureName.DLQ_GROWTH_RATE: self.dlq_growth_per_min,
            MeasureName.PEAK_LOAD: self.peak_load,
        }[name]


DEFAULT_LINES: Final = MeasureLines()


class MeasureOverride(msgspec.Struct, frozen=True):
    """The decision of a person about a measure, until a time: `in_force` with all its actions, or not at all."""

    in_force: bool
    until: datetime
    actor: str
    reason: str


class MeasureState(msgspec.Struct, frozen=True, kw_only=True):
    """One measure for one scope.

    - `level`: 0 while it is not in force.
    - `since`: when it came into force; `level_since`: when its level last changed.
    - `over_minutes`, `clear_minutes`: judged minutes in a row that were beyond the line, or clearly within it.
    - `judged_until`: the end of the last minute that was judged; `value`: the signal of that minute.
    """

    name: MeasureName
    tenant_id: UUID = PLATFORM_SCOPE
    level: int = 0
    since: datetime | None = None
    level_since: datetime | None = None
    over_minutes: int = 0
    clear_minutes: int = 0
    judged_until: datetime
    value: float = 0.0
    override: MeasureOverride | None = None

    @property
    def expires_at(self) -> datetime:
        """When it ends unless it is judged again."""
        return self.judged_until + JUDGEMENT_LIFETIME

    def override_at(self, now: datetime) -> MeasureOverride | None:
        """Return the decision of a person that counts now."""
        return self.override if self.override is not None and now < self.override.until else None

    def level_at(self, now: datetime) -> int:
        """Return the level that is in force: a person decides, otherwise the signal."""
        override = self.override_at(now)
        if override is not None:
            return len(LEVELS[self.name]) if override.in_force else 0
        return self.level if now < self.expires_at else 0

    def actions_at(self, now: datetime) -> frozenset[MeasureAction]:
        """Return the actions that are in force."""
        level = self.level_at(now)
        return LEVELS[self.name][level - 1][1] if level else frozenset()

    def until_at(self, now: datetime) -> datetime:
        """Return when it ends at the latest if nobody judges or decides again."""
        override = self.override_at(now)
        return self.expires_at if override is None else override.until

    def is_needed(self, now: datetime) -> bool:
        """Whether the state says anything: it is in force, may come into force soon, or a person has decided."""
        return bool(self.level or self.over_minutes) or self.override_at(now) is not None


def latest(copies: Iterable[Iterable[MeasureState]]) -> list[MeasureState]:
    """Return the latest judgement of each measure, from the copies of all cells. Decisions of people go first."""
    found: dict[tuple[UUID, MeasureName], MeasureState] = {}
    for states in copies:
        for state in states:
            known = found.get((state.tenant_id, state.name))
            if known is None or _lateness(known) < _lateness(state):
                found[state.tenant_id, state.name] = state
    return list(found.values())


def _lateness(state: MeasureState) -> tuple[datetime, bool]:
    return state.judged_until, state.override is not None
