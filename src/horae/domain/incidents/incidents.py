"""Incidents: the steps of recovery, their deadlines, and what the timeline adds up to.

The step of an incident is what is to be done next:

1. `FREEZE`: withhold low priority, close the entrance of backfills, and let critical work go first.
2. `REACH_CELLS`: wait until every cell answers.
3. `HOLD_SHARDS`: wait until a living node holds every shard.
4. `FIRE_CRITICAL`: wait until no critical fire is overdue.
5. `CATCH_UP`: wait until no first attempt of normal priority is overdue either.
6. `REPLAY_EVENTS`: send the events of the last 15 minutes again, with the ids they had.
7. `REQUEUE`: replay dead letters of failures that often pass by themselves.
8. `AUDIT`: compare the fires of the incident with those that should exist.
9. `LIFT`: end what `FREEZE` began.

A step has a deadline, counted from the start. A step that only waits gives up at its deadline, and the timeline says
what was missing. Any other step is tried again until it succeeds.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Invalid


class IncidentGrade(StrEnum):
    """How bad an incident is."""

    P1 = "P1"
    """The scheduler is not available: a primary or nodes are lost."""
    P2 = "P2"
    """Retries pile up, or triggers are late."""


class RecoveryStep(StrEnum):
    """What is to be done next in an incident."""

    FREEZE = "FREEZE"
    REACH_CELLS = "REACH_CELLS"
    HOLD_SHARDS = "HOLD_SHARDS"
    FIRE_CRITICAL = "FIRE_CRITICAL"
    CATCH_UP = "CATCH_UP"
    REPLAY_EVENTS = "REPLAY_EVENTS"
    REQUEUE = "REQUEUE"
    AUDIT = "AUDIT"
    LIFT = "LIFT"
    ENDED = "ENDED"


class IncidentResult(StrEnum):
    """How an incident ended."""

    RECOVERY_COMPLETED = "RECOVERY_COMPLETED"
    STOPPED = "STOPPED"


STEPS: Final = tuple(RecoveryStep)
"""The steps in their order."""
FREEZE_DEADLINE: Final = timedelta(minutes=3)
RESUME_DEADLINE: Final = timedelta(minutes=10)
REPLAY_DEADLINE: Final = timedelta(minutes=30)
DEADLINES: Final[Mapping[RecoveryStep, timedelta]] = {
    RecoveryStep.FREEZE: FREEZE_DEADLINE,
    RecoveryStep.REACH_CELLS: RESUME_DEADLINE,
    RecoveryStep.HOLD_SHARDS: RESUME_DEADLINE,
    RecoveryStep.FIRE_CRITICAL: RESUME_DEADLINE,
    RecoveryStep.CATCH_UP: RESUME_DEADLINE,
    RecoveryStep.REPLAY_EVENTS: REPLAY_DEADLINE,
    RecoveryStep.REQUEUE: REPLAY_DEADLINE,
    RecoveryStep.AUDIT: REPLAY_DEADLINE,
    RecoveryStep.LIFT: REPLAY_DEADLINE,
}
"""When each step is to be done at the latest, counted from the start (seed 002, section 12)."""
EVENTS_REPLAYED: Final = timedelta(minutes=15)
"""How far back events are sent again."""
REQUEUED_TAG: Final = "transient_error"
MAX_REQUEUED: Final = 5000
"""Dead letters that one recovery replays."""
MAX_FAULT_AGE: Final = timedelta(days=1)
"""How long ago the fault of an incident may have begun."""


class Incident(NamedTuple):
    """One incident. `fault_at`: when the trouble began, as far as the person who started it knows."""

    id: UUID
    grade: IncidentGrade
    step: RecoveryStep
    reason: str
    started_by: str
    fault_at: datetime
    started_at: datetime
    changed_at: datetime
    ended_at: datetime | None = None
    result: IncidentResult | None = None
    coordinator: UUID | None = None
    stop_requested: bool = False
    error: str | None = None

    @property
    def deadline(self) -> datetime | None:
        """When the present step is to be done at the latest; None after the end."""
        return None if self.step == RecoveryStep.ENDED else self.started_at + DEADLINES[self.step]

    def is_late(self, now: datetime) -> bool:
        """Whether the deadline of the present step has passed."""
        return self.deadline is not None and now >= self.deadline


class IncidentEntry(NamedTuple):
    """One line of the timeline: what was done, and its figures. `part` names a part of a step; "" is its end."""

    at: datetime
    cell: str
    step: RecoveryStep
    part: str
    facts: Mapping[str, Any]


class RecoverySummary(NamedTuple):
    """What a recovery did. None: not known, or not reached.

    - `rto_s`: seconds from the fault until no critical fire was overdue.
    - `rpo_s`: seconds of acknowledged writes that are lost. It is 0 if no cell can have lost any.
    """

    shards_held: int
    subscriptions_replayed: int
    dead_letters_requeued: int
    dead_letters_refused: int
    findings: int | None
    rto_s: float | None
    rpo_s: float | None


def next_step(step: RecoveryStep) -> RecoveryStep:
    """Return the step after this one."""
    return STEPS[STEPS.index(step) + 1]


def summarize(incident: Incident, entries: Iterable[IncidentEntry]) -> RecoverySummary:
    """Add up the timeline of an incident."""
    sums = {"subscriptions": 0, "requeued": 0, "refused": 0}
    ends: dict[RecoveryStep, IncidentEntry] = {}
    for entry in entries:
        if entry.part:
            for name in sums:
                sums[name] += int(entry.facts.get(name, 0))
        else:
            ends[entry.step] = entry
    critical, audit = ends.get(RecoveryStep.FIRE_CRITICAL), ends.get(RecoveryStep.AUDIT)
    fired = critical is not None and not critical.facts.get("overdue")
    return RecoverySummary(
        shards_held=_fact(ends.get(RecoveryStep.HOLD_SHARDS), "shards") or 0,
        subscriptions_replayed=sums["subscriptions"],
        dead_letters_requeued=sums["requeued"],
        dead_letters_refused=sums["refused"],
        findings=_fact(audit, "findings"),
        rto_s=(critical.at - incident.fault_at).total_seconds() if critical is not None and fired else None,
        rpo_s=_fact(ends.get(RecoveryStep.REACH_CELLS), "rpo_s"),
    )


def check_fault_time(fault_at: datetime, now: datetime) -> None:
    """Refuse a fault that begins in the future, or began too long ago."""
    if not now - MAX_FAULT_AGE <= fault_at <= now:
        raise Invalid(f"a fault began at most {MAX_FAULT_AGE.days} day ago, and not in the future")


def _fact(entry: IncidentEntry | None, name: str) -> Any:
    return None if entry is None else entry.facts.get(name)
