"""Health and its causes: one function decides the mode, and what every screen says about it.

The scheduler is NORMAL if there is no cause, and DEGRADED otherwise. A figure is marked if a cause of its kind exists.
So a sentence, its colour and the figures beside it cannot contradict each other.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from horae.domain.health.signals import DEGRADED_DELAY_MS, HealthMode
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import Hold

MIN_SUCCESS_SHARE: Final = 0.995
"""The part of attempts that succeed, below which it is a cause."""
MAX_RETRY_BACKLOG: Final = 200_000
MAX_DEAD_LETTERS_PER_MIN: Final = 1_000
SICK: Final = frozenset({HoldReason.BREAKER, HoldReason.NO_ANSWER})
"""Reasons of a hold that name its target as the cause: it fails, or it does not answer."""
MAX_TARGETS: Final = 10
"""Targets that are named; those with most waiting calls come first."""


class CauseKind(StrEnum):
    """What is wrong."""

    CELL_DOWN = "CELL_DOWN"
    """A cell does not answer."""
    SHARDS_UNHELD = "SHARDS_UNHELD"
    """No living node holds some shards of a cell: nothing fires there."""
    TARGET_SILENT = "TARGET_SILENT"
    """A target has calls in flight and answers none of them."""
    TARGET_FAILING = "TARGET_FAILING"
    """The circuit breaker of a target is open."""
    LATE = "LATE"
    """Fires start too late."""
    FAILING = "FAILING"
    """Too many attempts fail."""
    RETRIES = "RETRIES"
    """Too many instances wait for a retry."""
    DEAD_LETTERS = "DEAD_LETTERS"
    """Too many dead letters in a minute."""
    BUDGET = "BUDGET"
    """The error budget burns too fast."""


class HealthCause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong: which cell or target it concerns, since when, and how many wait for it.

    `target` is a host with its port, without the rest of the URL. `count` is calls that wait, or shards.
    """

    kind: CauseKind
    cell: str | None = None
    target: str | None = None
    since: datetime | None = None
    count: int | None = None


class HealthFigures(NamedTuple):
    """The figures that are compared with limits."""

    trigger_delay_p95_ms: int = 0
    success_rate: float = 1.0
    retry_backlog: int = 0
    dead_letters_per_min: int = 0


def figure_causes(figures: HealthFigures) -> list[HealthCause]:
    """Return the causes that the figures show."""
    beyond = {
        CauseKind.LATE: figures.trigger_delay_p95_ms > DEGRADED_DELAY_MS,
        CauseKind.FAILING: figures.success_rate < MIN_SUCCESS_SHARE,
        CauseKind.RETRIES: figures.retry_backlog > MAX_RETRY_BACKLOG,
        CauseKind.DEAD_LETTERS: figures.dead_letters_per_min > MAX_DEAD_LETTERS_PER_MIN,
    }
    return [HealthCause(kind=kind) for kind, found in beyond.items() if found]


def cell_causes(cells_down: Iterable[str], unheld: Mapping[str, int]) -> list[HealthCause]:
    """Return the causes that lie in cells: those that do not answer, and how many shards of the others nobody holds."""
    down = [HealthCause(kind=CauseKind.CELL_DOWN, cell=cell) for cell in cells_down]
    return down + [
        HealthCause(kind=CauseKind.SHARDS_UNHELD, cell=cell, count=shards) for cell, shards in unheld.items() if shards
    ]


def target_causes(holds: Iterable[Hold]) -> list[HealthCause]:
    """Return the targets that fail or do not answer, by host, with all calls that wait for that host."""
    sick: dict[str, Hold] = {}
    waiting: dict[str, int] = {}
    for hold in holds:
        host = urlsplit(hold.gate.name).netloc.rpartition("@")[2]
        waiting[host] = waiting.get(host, 0) + hold.waiting
        if hold.reason in SICK and (host not in sick or hold.since < sick[host].since):
            sick[host] = hold
    worst = sorted(sick, key=lambda host: (-waiting[host], host))[:MAX_TARGETS]
    return [
        HealthCause(
            kind=CauseKind.TARGET_SILENT if sick[host].reason == HoldReason.NO_ANSWER else CauseKind.TARGET_FAILING,
            target=host,
            since=sick[host].since,
            count=waiting[host],
        )
        for host in worst
    ]


def budget_causes(cells: Iterable[str]) -> list[HealthCause]:
    """Return a cause for each cell whose error budget burns too fast."""
    return [HealthCause(kind=CauseKind.BUDGET, cell=cell) for cell in cells]


def in_order(causes: Iterable[HealthCause]) -> tuple[HealthCause, ...]:
    """Return causes with those first that explain others: a cell before a target, a target before a figure."""
    kinds = list(CauseKind)
    return tuple(sorted(causes, key=lambda cause: kinds.index(cause.kind)))


def mode_of(causes: Iterable[HealthCause]) -> HealthMode:
    """Return NORMAL without a cause, DEGRADED with one."""
    return HealthMode.DEGRADED if any(True for _ in causes) else HealthMode.NORMAL
