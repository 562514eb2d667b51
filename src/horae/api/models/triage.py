"""Models of dead-letter triage: failure causes, paced replays, changes to many dead letters."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import AuditReason, Payload, RequestModel, ResponseModel
from horae.api.models.dead_letters import DeadLetterView, Word
from horae.api.models.holds import HoldView
from horae.api.pages import Page
from horae.domain.ids import LONGEST_ID, Prefix, public
from horae.domain.instances.dead_letters import MAX_TAGS, MOST
from horae.domain.instances.failure_causes import FailureCause
from horae.domain.instances.paced_replays import (
    DEFAULT_PACE,
    MAX_DEAD_LETTERS,
    MAX_PACE,
    PacedReplay,
    PacedReplayStatus,
)
from horae.domain.names import LONGEST_NAME
from horae.service.instances.bulk_dead_letters import BulkCount
from horae.service.instances.failure_causes import CauseDetail

CauseRef = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_ID, description="The id of a failure cause.")]
TagName = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00-\x1f\x7f]+$")]


class EditedReplay(RequestModel):
    """The payload that a replay carries in the place of its own."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": {"article": 42}}]})

    payload: Payload


class FailureCauseView(ResponseModel):
    """A failure cause: open dead letters of one job with the same error code and normalised message."""

    cause: str = Field(examples=["cau_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job: str | None = Field(None, description="The name of the job; null if it is gone.")
    target: str | None = Field(None, description="The method, host and path of the job's calls now, or its queue.")
    error_code: str
    message: str = Field(description="The message without numbers, ids, URLs and quoted values.")
    open: int = Field(description="The number of open dead letters.")
    last_hour: int = Field(description="Those that died in the last hour.")
    last_day: int = Field(description="Those that died in the last 24 hours.")
    day_before: int = Field(description="Those that died in the 24 hours before.")
    trend: Literal["rising", "steady", "falling"] = Field(description="The last 24 hours beside the 24 hours before.")
    first_at: datetime
    last_at: datetime
    oldest_version: int = Field(description="The oldest version of the job that died.")
    newest_version: int = Field(description="The newest version of the job that died.")
    sample: str = Field(description="The newest dead letter, by its instance id.")

    @classmethod
    def of(cls, cause: FailureCause) -> "FailureCauseView":
        """Returns the view of a failure cause."""
        return cls.model_validate(_cause_fields(cause))


class FailureCausePage(Page[FailureCauseView]):
    """A page of failure causes, those with most dead letters first."""

    unsorted: int = Field(0, description="Open dead letters whose cause is not known yet: a duty finds it in seconds.")
    is_complete: bool = Field(True, description="False: only the newest 500,000 dead letters of a cell were counted.")


class SinceDeathView(ResponseModel):
    """What changed since the dead letters of a cause died."""

    job_status: str | None = Field(None, description="The status of the job now; null if it is gone.")
    job_version: int | None = Field(None, description="The version of the job now.")
    changed: bool = Field(description="The job is gone, or has another version than those that died last.")
    ended: dict[str, int] = Field(
        description="Ended instances of the job by state, of the fires since the newest death, at most a day back."
    )
    held: list[HoldView] = Field(description="What is held back at the gates of the job now, such as an open breaker.")


class FailureCauseDetail(FailureCauseView):
    """A failure cause with its newest dead letters, and what changed since they died."""

    samples: list[DeadLetterView]
    since_death: SinceDeathView

    @classmethod
    def whole(cls, detail: CauseDetail, *, payloads: bool) -> "FailureCauseDetail":
        """Returns the view of a failure cause. `payloads`: the caller may read payloads."""
        samples = [DeadLetterView.of(one) for one in detail.samples]
        hidden = samples if payloads else [one.model_copy(update={"payload": None}) for one in samples]
        since = detail.since
        view = SinceDeathView(
            job_status=since.job_status,
            job_version=since.job_version,
            changed=since.changed,
            ended=since.ended,
            held=[HoldView.of(one) for one in since.held],
        )
        return cls.model_validate(_cause_fields(detail.cause) | {"samples": hidden, "since_death": view})


class DeadLettersWanted(RequestModel):
    """A filter for open dead letters: failure cause, job, tag, error code. The oldest come first."""

    cause: CauseRef | None = None
    job: Word | None = None
    tag: Word | None = None
    error_code: Word | None = None


class DiscardDeadLetters(DeadLettersWanted):
    """Which dead letters to discard, and why."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tag": "transient_error", "reason": "the campaign is over"}]}
    )

    reason: AuditReason
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST)] = 1000


class TagDeadLetters(DeadLettersWanted):
    """Which dead letters to tag, and the tags to add and to remove."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"job": "coupon_job", "add": ["after-the-fix"]}]})

    add: Annotated[list[TagName], Field(max_length=MAX_TAGS)] = []
    remove: Annotated[list[TagName], Field(max_length=MAX_TAGS)] = []
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST)] = 1000


class ChangedDeadLettersView(ResponseModel):
    """The number of dead letters that were changed, and of those that could not be."""

    changed: int
    refused: int

    @classmethod
    def of(cls, count: BulkCount) -> "ChangedDeadLettersView":
        """Returns the view of the counts."""
        return cls(changed=count.changed, refused=count.refused)


class NewPacedReplay(DeadLettersWanted):
    """Which dead letters to replay, and how: `pace` a second, `canary` of them first."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tag": "transient_error", "limit": 5000, "pace": 50, "canary": 10}]}
    )

    limit: Annotated[
        int, Field(strict=True, ge=1, le=MAX_DEAD_LETTERS, description="Maximum number of dead letters.")
    ] = 1000
    pace: Annotated[int, Field(strict=True, ge=1, le=MAX_PACE, description="Dead letters a second.")] = DEFAULT_PACE
    canary: Annotated[
        int, Field(strict=True, ge=0, le=MAX_DEAD_LETTERS, description="Sent first; the others follow if all succeed.")
    ] = 0
    max_failures: Annotated[
        int | None, Field(strict=True, ge=0, le=MAX_DEAD_LETTERS, description="With more failures the replay stops.")
    ] = None


class PacedReplayView(ResponseModel):
    """A paced replay with its progress. Counts are those of its last step."""

    id: str = Field(examples=["prp_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    status: PacedReplayStatus
    cause: str | None = None
    job_id: str | None = None
    tag: str | None = None
    error_code: str | None = None
    limit: int
    pace: int
    canary: int
    max_failures: int | None = None
    created_at: datetime
    created_by: str
    sent: int
    outstanding: int = Field(description="Sent, and without an outcome yet.")
    succeeded: int
    failed: int = Field(description="Those that died again.")
    returned: int = Field(description="Open again, because somebody cancelled the new instance.")
    refused: int = Field(description="Not sent: their job was removed, or their business key is live or has succeeded.")
    waits_for: str | None = Field(None, description="Why nothing was sent in the last step.")
    ended_at: datetime | None = None
    ended_because: str | None = None

    @classmethod
    def of(cls, replay: PacedReplay) -> "PacedReplayView":
        """Returns the view of a paced replay."""
        wanted = replay.wanted
        return cls(
            id=public(Prefix.PACED_REPLAY, replay.id),
            status=replay.status,
            cause=None if wanted.cause_id is None else public(Prefix.CAUSE, wanted.cause_id),
            job_id=None if wanted.job_id is None else public(Prefix.JOB, wanted.job_id),
            tag=wanted.tag,
            error_code=wanted.error_code,
            limit=replay.limit,
            pace=replay.pace,
            canary=replay.canary,
            max_failures=replay.max_failures,
            created_at=replay.created_at,
            created_by=replay.created_by,
            sent=replay.progress.sent,
            **replay.progress._asdict(),
            waits_for=replay.waits_for,
            ended_at=replay.ended_at,
            ended_because=replay.ended_because,
        )


def _cause_fields(cause: FailureCause) -> dict[str, object]:
    return {
        "cause": public(Prefix.CAUSE, cause.id),
        "job_id": public(Prefix.JOB, cause.job_id),
        "job": cause.job,
        "target": cause.target,
        "error_code": cause.error_code,
        "message": cause.message,
        "open": cause.open,
        "last_hour": cause.last_hour,
        "last_day": cause.last_day,
        "day_before": cause.day_before,
        "trend": cause.trend,
        "first_at": cause.first_at,
        "last_at": cause.last_at,
        "oldest_version": cause.oldest_version,
        "newest_version": cause.newest_version,
        "sample": public(Prefix.INSTANCE, cause.sample),
    }
