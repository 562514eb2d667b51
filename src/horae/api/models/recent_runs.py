"""Models of the newest ended runs of jobs."""

from datetime import datetime

from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.instances.lifecycle import State
from horae.domain.instances.recent_runs import RecentRun


class RecentRunView(ResponseModel):
    """One of the newest ended runs of a job."""

    instance_id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    state: State
    fire_time: datetime
    ended_at: datetime
    duration_ms: int | None = None
    error_code: str | None = None

    @classmethod
    def of(cls, run: RecentRun) -> "RecentRunView":
        """Returns the view of a run."""
        return cls(instance_id=public(Prefix.INSTANCE, run.id), **run._asdict())
