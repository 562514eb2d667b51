"""Models of instances and backfills."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from horae.api.models.attempts import AttemptView
from horae.api.models.base import Flag, Moment, Payload, RequestModel, ResponseModel
from horae.api.models.holds import HoldView
from horae.api.models.unreadable import Unreadable
from horae.api.pages import Page
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.limits.holds import Hold
from horae.domain.schedules.backfills import DEFAULT_CAP, MOST, Backfill, BackfillStatus
from horae.service.instances.searches import InstanceCounts, InstanceRecord
from horae.service.instances.tiers import ReadCost
from horae.service.schedules import backfills

Words = Literal["critical", "normal", "low"]
Lanes = Literal["first", "retry", "backfill"]
PRIORITY_WORDS: Final = {priority.value: priority.name.lower() for priority in Priority}
LANE_WORDS: Final = {lane.value: lane.name.lower() for lane in Lane}


class NewRun(RequestModel):
    """A manual run. `payload` replaces the payload of the job for this run only."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": {"campaign": 42}}]})

    payload: Payload = None


class TriggerAnswer(ResponseModel):
    """The instance that the trigger created. The same Idempotency-Key returns the same instance."""

    instance_id: str
    job_id: str
    job: str


class InstanceView(ResponseModel):
    """An instance: one fire of a job. A SKIPPED instance may cover `range_count` fires up to `range_to`."""

    id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job: str | None = Field(None, description="The current name of the job.")
    job_version: int
    key: str | None = Field(None, description="The business key of a task.")
    state: State
    reason: str | None = None
    fire_time: datetime
    due_at: datetime
    changed_at: datetime
    priority: Words
    lane: Lanes
    attempt: int
    retry_count: int
    trigger_delay_ms: int | None = None
    duration_ms: int | None = None
    worker_id: str | None = None
    error_code: str | None = None
    error_msg: str | None = None
    idempotency_key: str
    range_to: datetime | None = None
    range_count: int | None = None

    @classmethod
    def of(cls, past: InstanceRecord) -> "InstanceView":
        """Returns the view of an instance."""
        return cls(**instance_fields(past))


class ArchiveReadView(ResponseModel):
    """What was read from the archive: days, requests to the object storage, bytes and seconds."""

    days: int
    requests: int
    bytes: int
    seconds: float

    @classmethod
    def of(cls, cost: ReadCost | None) -> "ArchiveReadView | None":
        """Returns the view of a read; None where nothing was read from the archive."""
        return None if cost is None else cls(**archive_fields(cost))


def archive_fields(cost: ReadCost) -> dict[str, Any]:
    """Returns the fields of a read from the archive."""
    return {"days": cost.days, "requests": cost.requests, "bytes": cost.bytes, "seconds": cost.seconds}


class InstancePageView(Page[InstanceView]):
    """A page of instances. Those that are in the archive only come last."""

    archive: ArchiveReadView | None = Field(
        None, description="What was read from the archive for this page; null if nothing was."
    )


class InstanceDetail(InstanceView):
    """An instance with its payload, its last attempts and its deadline, which lists leave out."""

    payload: Any = None
    attempts: list[AttemptView] = []
    unreadable: Unreadable = None
    deadline: datetime | None = None
    held_ms: int = Field(0, description="The time that a target or a limit has held it back so far, in milliseconds.")
    held: HoldView | None = Field(None, description="The target or limit that holds it back now; null if nothing does.")
    expires_at: datetime | None = Field(
        None,
        description="The time when it expires because of `expires_after`; null if it does not wait or never expires.",
    )
    archive: ArchiveReadView | None = Field(
        None, description="What was read from the archive for this instance; null if it is not from there."
    )
    trace_url: str | None = Field(
        None, description="The address of its trace, by HORAE_TRACE_LINK; null if its trace is not sampled."
    )

    @classmethod
    def whole(
        cls,
        past: InstanceRecord,
        hold: Hold | None = None,
        expires_at: datetime | None = None,
        archive: ReadCost | None = None,
        trace_url: str | None = None,
        *,
        answers: bool = False,
    ) -> "InstanceDetail":
        """Returns the detail view of an instance. `answers`: with what the target answered to each attempt."""
        return cls(
            **instance_fields(past),
            payload=past.payload,
            attempts=[AttemptView.of(attempt, answers=answers) for attempt in past.attempts or ()],
            unreadable=past.unreadable,
            deadline=past.deadline,
            held_ms=past.held_ms,
            held=None if hold is None else HoldView.of(hold),
            expires_at=expires_at,
            archive=ArchiveReadView.of(archive),
            trace_url=trace_url,
        )


class RetryAnswer(ResponseModel):
    """The instance that runs again: the same instance, or the replay of a dead letter."""

    instance_id: str


class InstanceCountsView(ResponseModel):
    """The number of live instances of a job by state, and of ended instances of a time range by state."""

    live: dict[str, int]
    ended: dict[str, int]

    @classmethod
    def of(cls, counts: InstanceCounts) -> "InstanceCountsView":
        """Returns the view of the counts."""
        return cls(live=counts.live, ended=counts.ended)


class NewBackfill(RequestModel):
    """A time range of past fires, `until` excluded. More than `cap` fires are refused.

    `rerun` also repeats fires that succeeded, with new idempotency keys.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"since": "2026-11-14T00:00:00Z", "until": "2026-11-15T00:00:00Z"}]}
    )

    since: Moment
    until: Moment
    cap: Annotated[int, Field(strict=True, ge=1, le=MOST)] = DEFAULT_CAP
    rerun: Flag = False

    def to_service(self) -> backfills.BackfillRequest:
        """Returns the request of the service."""
        return backfills.BackfillRequest(self.since, self.until, self.cap, self.rerun)


class StartedBackfill(ResponseModel):
    """A new backfill: its range, which ends at the position of the schedule, and the number of planned fires."""

    id: str = Field(examples=["bkf_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    since: datetime
    until: datetime
    cap: int
    rerun: bool
    planned: int
    created_at: datetime
    created_by: str

    @classmethod
    def of(cls, backfill: Backfill) -> "StartedBackfill":
        """Returns the fields that do not change while the backfill runs."""
        return cls(**_start_fields(backfill))


class BackfillView(StartedBackfill):
    """A backfill and its progress. Lists leave out `waiting` and `ended`."""

    status: BackfillStatus
    cursor: datetime
    born: int = Field(description="The number of instances that were created.")
    already: int = Field(description="The number of fires that were skipped: succeeded before, or still live.")
    ended_at: datetime | None = None
    waiting: int | None = None
    ended: dict[str, int] | None = None

    @classmethod
    def of_listed(cls, backfill: Backfill) -> "BackfillView":
        """Returns the view of a backfill in a list."""
        return cls.whole(backfills.BackfillDetail(backfill, 0, {})).model_copy(update={"waiting": None, "ended": None})

    @classmethod
    def whole(cls, detail: backfills.BackfillDetail) -> "BackfillView":
        """Returns the view of one backfill with the counts of its instances."""
        one = detail.backfill
        return cls(
            **_start_fields(one),
            status=one.status,
            cursor=one.cursor,
            born=one.inserted,
            already=one.already,
            ended_at=one.ended_at,
            waiting=detail.waiting,
            ended=detail.ended,
        )


def _start_fields(one: Backfill) -> dict[str, Any]:
    return {
        "id": public(Prefix.BACKFILL, one.id),
        "job_id": public(Prefix.JOB, one.job_id),
        "since": one.since,
        "until": one.until,
        "cap": one.cap,
        "rerun": one.rerun,
        "planned": one.planned,
        "created_at": one.created_at,
        "created_by": one.created_by,
    }


def instance_fields(past: InstanceRecord) -> dict[str, Any]:
    """Returns the fields of `InstanceView`."""
    return {
        "id": public(Prefix.INSTANCE, past.id),
        "job_id": public(Prefix.JOB, past.job_id),
        "job": past.job,
        "job_version": past.job_version,
        "key": past.business_key,
        "state": past.state,
        "reason": past.reason,
        "fire_time": past.fire_time,
        "due_at": past.due_at,
        "changed_at": past.changed_at,
        "priority": PRIORITY_WORDS[past.priority],
        "lane": LANE_WORDS[past.lane],
        "attempt": past.attempt,
        "retry_count": past.retry_count,
        "trigger_delay_ms": past.trigger_delay_ms,
        "duration_ms": past.duration_ms,
        "worker_id": past.worker_id,
        "error_code": past.error_code,
        "error_msg": past.error_msg,
        "idempotency_key": past.idem_key,
        "range_to": past.range_to,
        "range_count": past.range_count,
    }
