"""What is known of one job: its rules, its pauses, its end, where its cursor stands, and its rows."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from horae.domain.fire_audit.rules import Rule, StoredCalendar
from horae.domain.instances.instances import Lane
from horae.domain.instances.lifecycle import State

ACTIVE = "ACTIVE"
"""The status of a job that fires."""
ALWAYS = datetime.max.replace(tzinfo=UTC)


class Pause(NamedTuple):
    """A job or its tenant was paused from `since` to `until`; None: it still is.

    `stood` is the fire that the cursor of a job was at. A pause of a tenant leaves cursors where they are.
    """

    since: datetime
    until: datetime | None
    stood: datetime | None = None


class RecordedFire(NamedTuple):
    """A live or ended instance, or a range of skipped fires. `ended_at` is None for a live one."""

    id: UUID
    fire_time: datetime
    due_at: datetime
    range_to: datetime | None
    range_count: int | None
    version: int
    lane: int
    state: str
    reason: str | None
    ended_at: datetime | None
    retry_count: int
    idem_key: str

    @property
    def is_of_schedule(self) -> bool:
        """Whether its key is that of a fire time. Fires by hand and re-runs have other keys."""
        tail = self.idem_key.partition(":")[2]
        return tail[:1].isdigit() and ":" not in tail

    @property
    def was_skipped(self) -> bool:
        """Whether it is a verdict instead of a run."""
        return self.state == State.SKIPPED

    @property
    def is_backfill(self) -> bool:
        """Whether it waits, or ended, in the lane of backfills."""
        return self.lane == Lane.BACKFILL


class StoredBackfill(NamedTuple):
    """A backfill. The fires before `cursor` are decided. `mode` is None where `rerun` says it."""

    id: UUID
    created_at: datetime
    since: datetime
    until: datetime
    cursor: datetime
    rerun: bool
    mode: str | None = None


class JobHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides which fires a job should have. `read_at` is when it was read.

    `may_be_withheld`: a protective measure is in force that may keep its cursor where it is.
    """

    id: UUID
    tenant_id: UUID
    name: str
    status: str
    rules: Sequence[Rule]
    read_at: datetime
    removed_at: datetime | None = None
    cursor: datetime | None = None
    cursor_version: int | None = None
    may_be_withheld: bool = False
    pauses: Sequence[Pause] = ()
    tenant_pauses: Sequence[Pause] = ()
    calendars: Mapping[str, StoredCalendar] = {}
    backfills: Sequence[StoredBackfill] = ()

    def rule_at(self, at: datetime) -> Rule | None:
        """Return the rule that was in force at a time; None before the first one that is still stored."""
        for rule in reversed(self.rules):
            if rule.since < at:
                return rule
        return None
