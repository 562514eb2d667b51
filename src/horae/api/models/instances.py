"""Instances and backfills as they are asked for and shown."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, Moment, Payload, Shown, Told
from horae.api.models.holds import HoldView
from horae.api.models.unreadable import Unreadable
from horae.domain.backfills import DEFAULT_CAP, Backfill, Progress
from horae.domain.holds import Hold
from horae.domain.ids import Prefix, public
from horae.domain.instances import Lane, Priority
from horae.domain.lifecycle import State
from horae.service import backfills
from horae.service.search import Counts, Past

Words = Literal["critical", "normal", "low"]
Lanes = Literal["first", "retry", "backfill"]


class NewRun(Told):
    """A run by hand. Its payload counts for this run only; the job's own where it is left out."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": {"campaign": 42}}]})

    payload: Payload = None


class Triggered(Shown):
    """The instance that an Idempotency-Key stands for."""

    instance_id: str
    job_id: str
    job: str


class InstanceView(Shown):
    """One fire of a job. A SKIPPED one may stand for a range: so many, up to `range_to`."""

    id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job: str | None = Field(None, description="The job's name as it is now.")
    job_version: int
    key: str | None = Field(None, description="The business key, of a task.")
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
    def of(cls, past: Past) -> "InstanceView":
        """An instance as it is shown."""
        return cls(**_facts(past))


class InstanceDetail(InstanceView):
    """The same with what a list leaves out: payload, the last attempts, until when it may stay unanswered."""

    payload: Any = None
    attempts: list[Any] = []
    unreadable: Unreadable = None
    deadline: datetime | None = None
    held_ms: int = Field(0, description="Milliseconds for which it was held back so far.")
    held: HoldView | None = Field(
        None, description="What holds it back now; null: it is not due yet, waits for nothing but its turn, or is sent."
    )
    expires_at: datetime | None = Field(
        None,
        description="When its wait ends at the latest, by `expires_after`; null: it does not wait, or without end.",
    )

    @classmethod
    def whole(cls, past: Past, hold: Hold | None = None, expires_at: datetime | None = None) -> "InstanceDetail":
        """All of it."""
        return cls(
            **_facts(past),
            payload=past.payload,
            attempts=list(past.attempts or ()),
            unreadable=past.unreadable,
            deadline=past.deadline,
            held_ms=past.held_ms,
            held=None if hold is None else HoldView.of(hold),
            expires_at=expires_at,
        )


class Retried(Shown):
    """What to watch: the same instance, or the replay of a dead one."""

    instance_id: str


class CountsView(Shown):
    """How many of a job's instances live in which state, and how those of a stretch of time ended."""

    live: dict[str, int]
    ended: dict[str, int]

    @classmethod
    def of(cls, counts: Counts) -> "CountsView":
        """Counts as they are shown."""
        return cls(live=counts.live, ended=counts.ended)


class NewBackfill(Told):
    """Past fires of a job, `until` excluded. More than `cap` are refused; a re-run gives them keys of their own."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"since": "2026-11-14T00:00:00Z", "until": "2026-11-15T00:00:00Z"}]}
    )

    since: Moment
    until: Moment
    cap: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = DEFAULT_CAP
    rerun: Flag = False

    def to_service(self) -> backfills.Asked:
        """The same as the service takes it."""
        return backfills.Asked(self.since, self.until, self.cap, self.rerun)


class BackfillBegun(Shown):
    """A backfill as it was begun: its range, cut where the job's schedule stands, and how many fires lie in it."""

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
    def of(cls, backfill: Backfill) -> "BackfillBegun":
        """What does not change while it runs."""
        return cls(**_begun(backfill))


class BackfillView(BackfillBegun):
    """A backfill and how far it is. `already`: succeeded before, or alive; `waiting` and `ended` where one is read."""

    status: Progress
    cursor: datetime
    born: int
    already: int
    ended_at: datetime | None = None
    waiting: int | None = None
    ended: dict[str, int] | None = None

    @classmethod
    def told(cls, backfill: Backfill) -> "BackfillView":
        """One of a list."""
        return cls.whole(backfills.Shown(backfill, 0, {})).model_copy(update={"waiting": None, "ended": None})

    @classmethod
    def whole(cls, shown: backfills.Shown) -> "BackfillView":
        """One alone, with its instances counted."""
        one = shown.backfill
        return cls(
            **_begun(one),
            status=one.status,
            cursor=one.cursor,
            born=one.born,
            already=one.already,
            ended_at=one.ended_at,
            waiting=shown.waiting,
            ended=shown.ended,
        )


def _begun(one: Backfill) -> dict[str, Any]:
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


def _facts(past: Past) -> dict[str, Any]:
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
        "priority": Priority(past.priority).name.lower(),
        "lane": Lane(past.lane).name.lower(),
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
