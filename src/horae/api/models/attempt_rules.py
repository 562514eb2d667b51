"""Models of what jobs and the steps of graphs have in common: priority, retries, and how long an instance waits."""

from typing import Annotated, Final, Literal

from pydantic import Field

from horae.api.models.base import Number, RequestModel
from horae.domain.instances.retries import MAX_RETRY_WAIT_S

PriorityWord = Literal["critical", "normal", "low"]
EXPIRES_AFTER: Final = (
    "Seconds that a due instance may wait before it becomes SKIPPED or DEAD with `EXPIRED`. The default is one day for "
    "recurring jobs, and no limit for tasks and for jobs that fire once or manually."
)


class RetrySpec(RequestModel):
    """The retry policy; times are in seconds. After `max_failures` failures the instance is a dead letter."""

    base: Annotated[Number, Field(gt=0, le=MAX_RETRY_WAIT_S)] = 0.5
    jitter_min: Annotated[Number, Field(ge=0, le=MAX_RETRY_WAIT_S)] = 0.1
    jitter_max: Annotated[Number, Field(ge=0, le=MAX_RETRY_WAIT_S)] = 0.8
    longest: Annotated[Number, Field(gt=0, le=MAX_RETRY_WAIT_S)] = 300.0
    max_failures: Annotated[int, Field(strict=True, ge=1, le=1000)] = 6
