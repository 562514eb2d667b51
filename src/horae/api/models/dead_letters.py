"""Dead letters as they are asked for and shown."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Shown, Told
from horae.api.models.unreadable import Unreadable
from horae.domain.dead_letters import Letter, ReplayStatus
from horae.domain.ids import Prefix, public

Word = Annotated[StrictStr, Field(min_length=1, max_length=120)]


class LetterView(Shown):
    """What was given up. `instance_id` died first; `replay_id` is its latest replay."""

    instance_id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job: str | None = None
    key: str | None = None
    fire_time: datetime
    created_at: datetime
    error_code: str
    error_msg: str | None = None
    tag: str | None = None
    replay_status: ReplayStatus
    replay_id: str | None = None
    idempotency_key: str
    payload: Any = None
    unreadable: Unreadable = None

    @classmethod
    def of(cls, letter: Letter) -> "LetterView":
        """A letter as it is shown."""
        return cls(
            instance_id=public(Prefix.INSTANCE, letter.instance_id),
            job_id=public(Prefix.JOB, letter.job_id),
            job=letter.job,
            key=letter.business_key,
            fire_time=letter.fire_time,
            created_at=letter.created_at,
            error_code=letter.error_code,
            error_msg=letter.error_msg,
            tag=letter.tag,
            replay_status=letter.status,
            replay_id=None if letter.replay_id is None else public(Prefix.INSTANCE, letter.replay_id),
            idempotency_key=letter.idem_key,
            payload=letter.payload,
            unreadable=letter.unreadable,
        )


class Replays(Told):
    """Which letters to send again: by job, tag or error code, the oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tag": "transient_error", "limit": 5000}]})

    job: Word | None = None
    tag: Word | None = None
    error_code: Word | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1000


class ReplayedView(Shown):
    """How many letters were sent again, and how many could not be."""

    sent: int
    refused: int
