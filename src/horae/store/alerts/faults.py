"""What the alert rules read of a cell: runs that ended, fires that wait, holds, sources, nodes, the clock."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.alerts.rules import AlertRule, WatchedJob
from horae.domain.ids import shard_in
from horae.domain.instances.outcomes import SkipReason
from horae.domain.sources.sources import RoundCounts
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

OUR_REASONS: Final = (
    SkipReason.MISFIRE,
    SkipReason.TOO_LATE,
    SkipReason.OVER_CAP,
    SkipReason.EXPIRED,
    SkipReason.CALENDAR_UNKNOWN,
)
"""Reasons of a skipped fire that neither its owner nor its schedule asked for."""
MAX_LATE_ROWS: Final = 2000
"""Overdue fires of each class that one look reads."""
MAX_JOBS_WITHOUT_SUCCESS: Final = 1000
ACTIVE: Final = "ACTIVE"


class EndedRuns(NamedTuple):
    """What went wrong with a job in a span of transactions."""

    tenant_id: UUID
    job_id: UUID
    dead: int
    error_code: str | None
    missed: int
    skip_reason: str | None
    delay_ms: int


class OverdueFires(NamedTuple):
    """Fires of a job that had no attempt yet, and by how much the oldest is late."""

    tenant_id: UUID
    job_id: UUID
    fires: int
    late_s: float


class StoppedTarget(NamedTuple):
    """A target that takes no calls: its circuit breaker is open, or it answers nothing. `target` is its URL."""

    tenant_id: UUID
    target: str
    is_open: bool
    waiting: int
    since: datetime


class LastSourceRound(NamedTuple):
    """The last finished round of a source."""

    source: str
    job_id: UUID
    number: int
    counts: RoundCounts


class LostCoverage(NamedTuple):
    """A rolling set that is not covered as promised."""

    job_id: UUID
    subjects: int
    fresh: int


class StuckIntake(NamedTuple):
    """An intake that takes nothing, and how many messages wait."""

    intake: str
    waiting: int


class SilentNode(NamedTuple):
    """A node that stopped renewing its lease."""

    name: str
    seen_at: datetime


async def tenant_names(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, str]:
    """The names of tenants that this cell knows and that are not removed."""
    return {row["id"]: row["name"] for row in await tx.rows(sql("alerts/faults/tenant_names"), ids)}


async def ended(tx: Tx, span: tuple[int, int], since: datetime, late_ms: int) -> list[EndedRuns]:
    """The jobs with dead letters, missed fires or late first attempts in a span of transactions."""
    rows = await tx.rows(sql("alerts/faults/ended"), *span, since, OUR_REASONS, late_ms)
    return [EndedRuns(*row) for row in rows]


async def failing(tx: Tx, counts: Mapping[UUID, int]) -> set[UUID]:
    """The jobs whose last runs, as many as given for each, all failed."""
    if not counts:
        return set()
    rows = await tx.rows(sql("alerts/faults/failing"), list(counts), list(counts.values()))
    return {row["job_id"] for row in rows}


async def overdue(tx: Tx, by: timedelta) -> list[OverdueFires]:
    """The fires that are late by at least that and had no attempt."""
    rows = await tx.rows(sql("alerts/faults/overdue"), tx.now, tx.now - by, MAX_LATE_ROWS)
    return [OverdueFires(*row) for row in rows]


async def without_success(tx: Tx, tenant_id: UUID, rule: AlertRule, since: datetime) -> list[UUID]:
    """The jobs of a rule that had no success since a time."""
    args = (tenant_id, rule.job, rule.labels, rule.owner, since, MAX_JOBS_WITHOUT_SUCCESS)
    return [row["job_id"] for row in await tx.rows(sql("alerts/faults/without_success"), *args)]


async def watched_jobs(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, WatchedJob]:
    """What the rules know of jobs. Jobs that are paused, completed, removed or unreadable are left out."""
    if not ids:
        return {}
    rows = await tx.rows(sql("alerts/faults/watched_jobs"), [shard_in(id_) for id_ in ids], ids)
    found = read_rows("job", (row for row in rows if row["status"] == ACTIVE), _watched_job)
    return {row["id"]: job for row, job in found}


async def stopped_targets(tx: Tx, limit: int) -> list[StoppedTarget]:
    """The targets of all tenants that take no calls, and for which calls wait; at most `limit`."""
    rows = await tx.rows(sql("alerts/faults/stopped_targets"), tx.now, limit)
    return [StoppedTarget(*row) for row in rows]


async def source_rounds(tx: Tx, tenant_id: UUID) -> list[LastSourceRound]:
    """The last finished round of each source of a tenant."""
    rows = await tx.rows(sql("alerts/faults/source_rounds"), tenant_id)
    return [
        LastSourceRound(row["source"], row["job_id"], row["number"], msgspec.convert(row["counts"], RoundCounts))
        for row in rows
    ]


async def lost_coverages(tx: Tx, tenant_id: UUID) -> list[LostCoverage]:
    """The rolling sets of a tenant that are not covered as promised."""
    return [LostCoverage(*row) for row in await tx.rows(sql("alerts/faults/lost_coverages"), tenant_id)]


async def stuck_intakes(tx: Tx, tenant_id: UUID, before: datetime) -> list[StuckIntake]:
    """The intakes of a tenant that took nothing since a time although they should have."""
    return [StuckIntake(*row) for row in await tx.rows(sql("alerts/faults/stuck_intakes"), tenant_id, before)]


async def silent_nodes(tx: Tx, since: datetime) -> list[SilentNode]:
    """The nodes whose lease ran out after a time and that did not end by themselves."""
    return [SilentNode(*row) for row in await tx.rows(sql("alerts/faults/silent_nodes"), tx.now, since)]


async def clock_doubt(tx: Tx) -> timedelta | None:
    """By how much the clock of this cell jumped ahead; None: it is trusted."""
    found = await tx.value(sql("alerts/faults/clock_doubt"))
    return None if found is None else timedelta(milliseconds=found)


def _watched_job(row: asyncpg.Record) -> WatchedJob:
    """The one place that reads the people and the thresholds of a job."""
    return WatchedJob(
        row["name"],
        msgspec.convert(row["labels"], dict[str, str]),
        row["owner"],
        msgspec.convert(row["contacts"], tuple[str, ...]),
        msgspec.convert(row["late_after"], int | None),
        msgspec.convert(row["fail_after"], int | None),
        row["runbook"],
    )
