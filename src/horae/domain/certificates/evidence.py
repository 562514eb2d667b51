"""The evidence of a day: everything that its numbers are counted from, as it was read."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.fire_audit.histories import JobHistory, RecordedFire, StoredBackfill
from horae.domain.fire_audit.pauses import PauseEvent, pauses_of, removed_at
from horae.domain.fire_audit.rules import StoredCalendar, StoredVersion, rules_of

FORMAT: Final = "horae evidence 1"


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A live or ended instance, or a range of skipped fires.

    `delay_ms` is how long after its due time the first attempt was sent, without the time `held_ms` at gates.
    """

    id: UUID
    fire_time: datetime
    due_at: datetime
    version: int
    lane: int
    state: str
    idem_key: str
    range_to: datetime | None = None
    range_count: int | None = None
    reason: str | None = None
    ended_at: datetime | None = None
    retry_count: int = 0
    delay_ms: int | None = None
    held_ms: int = 0

    @property
    def is_range(self) -> bool:
        """Whether it stands for several skipped fires."""
        return self.range_to is not None and (self.range_count or 0) > 1

    def recorded(self) -> RecordedFire:
        """Return the row as the audit of fires reads it."""
        return RecordedFire(*(getattr(self, name) for name in RecordedFire._fields))


class AbsentFire(msgspec.Struct, frozen=True):
    """A fire of the schedule that has no row, and why: missing, undecided, or not owed."""

    at: datetime
    why: str


class JobEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one job. `fires` are all fires of its schedule on the day, `absent` those of them without a row.

    `unreadable` says why its schedule cannot be computed.
    """

    id: UUID
    name: str
    status: str
    cursor: datetime | None = None
    cursor_version: int | None = None
    may_be_withheld: bool = False
    versions: Sequence[StoredVersion] = ()
    events: Sequence[PauseEvent] = ()
    backfills: Sequence[StoredBackfill] = ()
    rows: Sequence[EvidenceRow] = ()
    fires: Sequence[datetime] = ()
    absent: Sequence[AbsentFire] = ()
    unreadable: str | None = None


class DayEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one tenant and one day in UTC, read at `read_at`."""

    tenant_id: UUID
    tenant: str
    day: date
    read_at: datetime
    tenant_events: Sequence[PauseEvent]
    calendars: Mapping[str, StoredCalendar]
    jobs: Sequence[JobEvidence]
    format: str = FORMAT

    def history_of(self, job: JobEvidence) -> JobHistory:
        """Return what decides the fires of a job, as the audit of fires takes it."""
        return JobHistory(
            id=job.id,
            tenant_id=self.tenant_id,
            name=job.name,
            status=job.status,
            rules=rules_of(str(job.id), job.versions),
            read_at=self.read_at,
            removed_at=removed_at(job.events),
            cursor=job.cursor,
            cursor_version=job.cursor_version,
            may_be_withheld=job.may_be_withheld,
            pauses=tuple(pauses_of(job.events)),
            tenant_pauses=tuple(pauses_of(self.tenant_events)),
            calendars=self.calendars,
            backfills=job.backfills,
        )
