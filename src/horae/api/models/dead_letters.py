"""Models of dead letters."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import RequestModel, ResponseModel
from horae.api.models.unreadable import Unreadable
from horae.domain.ids import Prefix, public
from horae.domain.instances.dead_letters import MOST, DeadLetter, ReplayStatus
from horae.domain.names import LONGEST_NAME

Word = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]


class DeadLetterView(ResponseModel):
    """A dead letter. `instance_id` is the instance that failed for good; `replay_id` is its latest replay."""

    instance_id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job: str | None = None
    key: str | None = None
    fire_time: datetime
    created_at: datetime
    error_code: str
    error_msg: str | None = None
    tag: str | None = None
    tags: list[str] = Field([], description="The tags that people have put on it.")
    cause: str | None = Field(None, description="Its failure cause; null until a duty has found it.")
    job_version: int = Field(1, description="The version of the job that died.")
    replay_status: ReplayStatus
    replay_id: str | None = None
    idempotency_key: str
    payload: Any = None
    unreadable: Unreadable = None

    @classmethod
    def of(cls, dead_letter: DeadLetter) -> "DeadLetterView":
        """Returns the view of a dead letter."""
        return cls(
            instance_id=public(Prefix.INSTANCE, dead_letter.instance_id),
            job_id=public(Prefix.JOB, dead_letter.job_id),
            job=dead_letter.job,
            key=dead_letter.business_key,
            fire_time=dead_letter.fire_time,
            created_at=dead_letter.created_at,
            error_code=dead_letter.error_code,
            error_msg=dead_letter.error_msg,
            tag=dead_letter.tag,
            tags=list(dead_letter.tags),
            cause=None if dead_letter.cause_id is None else public(Prefix.CAUSE, dead_letter.cause_id),
            job_version=dead_letter.job_version,
            replay_status=dead_letter.status,
            replay_id=None if dead_letter.replay_id is None else public(Prefix.INSTANCE, dead_letter.replay_id),
            idempotency_key=dead_letter.idem_key,
            payload=dead_letter.payload,
            unreadable=dead_letter.unreadable,
        )


class ReplayDeadLetters(RequestModel):
    """A filter for the dead letters to replay: job, tag, error code. The oldest are replayed first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tag": "transient_error", "limit": 5000}]})

    job: Word | None = None
    tag: Word | None = None
    error_code: Word | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST)] = 1000


class ReplayCountsView(ResponseModel):
    """The number of dead letters that were replayed, and the number that could not be replayed."""

    sent: int
    refused: int
