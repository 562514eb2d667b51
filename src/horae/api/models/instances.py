"""Models of instances."""

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from horae.api.models.attempts import AttemptView
from horae.api.models.base import Payload, RequestModel, ResponseModel
from horae.api.models.holds import HoldView
from horae.api.models.unreadable import Unreadable
from horae.api.pages import Page
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.limits.holds import Hold
from horae.service.instances.results import InstanceResult
from horae.service.instances.searches import InstanceCounts, InstanceRecord
from horae.service.instances.tiers import ReadCost

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


class ProgressView(ResponseModel):
    """How far the running attempt is, as its worker last reported it."""

    percent: float
    text: str | None = Field(None, description="What it does; null if it cannot be decrypted now.")
    at: datetime

    @classmethod
    def of(cls, said: dict[str, Any] | None) -> "ProgressView | None":
        """Returns the view of a progress; None if there is none."""
        return None if said is None else cls(percent=said["percent"], text=said["text"], at=said["at"])


class ResultView(ResponseModel):
    """What an instance returned: any JSON."""

    instance_id: str
    result: Any

    @classmethod
    def of(cls, found: InstanceResult) -> "ResultView":
        """Returns the view of a result."""
        return cls(instance_id=public(Prefix.INSTANCE, found.instance_id), result=found.value)


class InstanceDetail(InstanceView):
    """An instance with its payload, its last attempts and its deadline, which lists leave out."""

    payload: Any = None
    attempts: list[AttemptView] = []
    unreadable: Unreadable = None
    deadline: datetime | None = None
    progress: ProgressView | None = Field(None, description="How far the running attempt is; null if nobody said it.")
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
            progress=ProgressView.of(past.progress),
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
