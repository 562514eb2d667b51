"""Models of backfills, their dry runs and groups."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Flag, Moment, Number, RequestModel, ResponseModel
from horae.api.models.job_people import Owner
from horae.api.models.jobs import Label
from horae.api.models.versions import LabelKey
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import MOST_LABELS, JobFilter
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules.backfill_progress import BackfillProgress, BoundedPace, PaceBound
from horae.domain.schedules.backfills import (
    DEFAULT_CAP,
    MAX_RATE_PER_S,
    MIN_RATE_PER_S,
    MOST,
    Backfill,
    BackfillMode,
    BackfillStatus,
)
from horae.service.schedules import backfills
from horae.service.schedules.backfill_groups import GroupDetail, GroupItem, GroupStart
from horae.service.schedules.backfill_plans import BackfillPlan


class NewBackfill(RequestModel):
    """A time range of past fires, `until` excluded. More than `cap` fires are refused.

    `mode` says which fires run: those that have not succeeded, only the missing or only the failed ones, or all.
    `rerun` is the same as mode `all`: it also repeats fires that succeeded, with new idempotency keys.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"since": "2026-11-14T00:00:00Z", "until": "2026-11-15T00:00:00Z"}]}
    )

    since: Moment
    until: Moment
    cap: Annotated[int, Field(strict=True, ge=1, le=MOST)] = DEFAULT_CAP
    rerun: Flag = False
    mode: BackfillMode | None = Field(None, description="Which fires run; `unsuccessful` if omitted.")
    newest_first: Flag = Field(False, description="Run the newest fires first instead of the oldest.")
    rate: Annotated[Number, Field(ge=MIN_RATE_PER_S, le=MAX_RATE_PER_S)] | None = Field(
        None, description="The instances that are created in a second at most."
    )

    def to_service(self) -> backfills.BackfillRequest:
        """Returns the request of the service."""
        if self.rerun and self.mode not in (None, BackfillMode.ALL):
            raise Invalid(f"`rerun` is mode `all`, and the mode is {self.mode}")
        mode = BackfillMode.ALL if self.rerun else self.mode or BackfillMode.UNSUCCESSFUL
        return backfills.BackfillRequest(self.since, self.until, self.cap, mode, self.newest_first, self.rate)


class NewBackfillGroup(NewBackfill):
    """A backfill of every job that is chosen. `cap` is that of each job, `rate` that of all together."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"since": "2026-11-14T00:00:00Z", "until": "2026-11-15T00:00:00Z", "labels": {"team": "coupons"}}
            ]
        }
    )

    labels: Annotated[
        dict[LabelKey, Label],
        Field(max_length=MOST_LABELS, description="Filter on labels: jobs that have all of them."),
    ] = {}
    owner: Owner | None = Field(None, description="Filter on the owner of the job.")
    prefix: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="Prefix filter on the job name.")] = ""

    def to_filter(self) -> JobFilter:
        """Returns the filter for the jobs."""
        return JobFilter(labels=self.labels, prefix=self.prefix, owner=self.owner)


class StartedBackfill(ResponseModel):
    """A new backfill: its range, which ends at the position of the schedule, and the number of planned fires."""

    id: str = Field(examples=["bkf_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    since: datetime
    until: datetime
    cap: int
    rerun: bool
    mode: BackfillMode
    newest_first: bool
    rate: float | None = None
    planned: int
    needed: int | None = Field(
        None, description="How many of them the mode runs, as counted at the start; null if there was too much history."
    )
    group_id: str | None = Field(None, description="The backfill group of which it is a part.")
    created_at: datetime
    created_by: str

    @classmethod
    def of(cls, backfill: Backfill) -> "StartedBackfill":
        """Returns the fields that do not change while the backfill runs."""
        return cls(**_start_fields(backfill))


class BackfillProgressView(ResponseModel):
    """How many instances have ended, of how many, and how long the rest takes at the pace so far."""

    done: int
    total: int
    running_s: float = Field(description="The seconds since the start, without pauses.")
    left_s: float | None = Field(None, description="The seconds until the end; null before a tenth is done.")

    @classmethod
    def of(cls, progress: BackfillProgress | None) -> "BackfillProgressView | None":
        """Returns the view of a progress."""
        if progress is None:
            return None
        return cls(done=progress.done, total=progress.total, running_s=progress.running_s, left_s=progress.left_s)


class BackfillView(StartedBackfill):
    """A backfill and its progress. Lists leave out `waiting`, `ended` and `progress`."""

    status: BackfillStatus
    cursor: datetime
    decided_from: datetime | None = Field(None, description="Newest first: every fire from this time on is decided.")
    born: int = Field(description="The number of instances that were created.")
    already: int = Field(description="The number of fires that the mode leaves out, or that are still live.")
    paused_at: datetime | None = None
    ended_at: datetime | None = None
    waiting: int | None = None
    ended: dict[str, int] | None = None
    progress: BackfillProgressView | None = None

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
            decided_from=one.decided_from,
            born=one.inserted,
            already=one.already,
            paused_at=one.paused_at,
            ended_at=one.ended_at,
            waiting=detail.waiting,
            ended=detail.ended,
            progress=BackfillProgressView.of(detail.progress),
        )


class PaceBoundView(ResponseModel):
    """What bounds the pace of a backfill, and the calls a second that it allows. `name` is the limit's."""

    bound: PaceBound
    calls_per_s: float
    name: str | None = None

    @classmethod
    def of(cls, one: BoundedPace) -> "PaceBoundView":
        """Returns the view of a bound."""
        return cls(bound=one.bound, calls_per_s=one.calls_per_s, name=one.name)


class BackfillPlanView(ResponseModel):
    """What a backfill would do now: how many fires, how long, what load, and what bounds its pace."""

    since: datetime
    until: datetime
    planned: int = Field(description="The fires of the range.")
    needed: int = Field(description="The fires that the mode runs.")
    succeeded: int | None = Field(None, description="Fires that succeeded before; null if there is too much history.")
    failed: int | None = Field(None, description="Fires that died and did not succeed.")
    call_s: float = Field(description="The mean seconds of the last calls of the job.")
    calls_per_s: float = Field(description="The expected pace: that of the lowest bound.")
    duration_s: float | None = Field(None, description="The expected seconds; null if no node is alive.")
    slots: float = Field(description="The slots that its calls occupy on all nodes together.")
    nodes: int = Field(description="The living nodes.")
    limited_by: PaceBound
    bounds: list[PaceBoundView] = Field(description="All bounds, the lowest first.")

    @classmethod
    def of(cls, plan: BackfillPlan) -> "BackfillPlanView":
        """Returns the view of a plan."""
        cost = plan.forecast
        return cls(
            since=plan.since,
            until=plan.until,
            planned=plan.planned,
            needed=plan.needed,
            succeeded=None if plan.past is None else plan.past.succeeded,
            failed=None if plan.past is None else plan.past.failed,
            call_s=cost.call_s,
            calls_per_s=cost.calls_per_s,
            duration_s=cost.duration_s,
            slots=cost.slots,
            nodes=plan.nodes,
            limited_by=cost.limited_by,
            bounds=[PaceBoundView.of(one) for one in cost.bounds],
        )


class BackfillGroupItemView(ResponseModel):
    """The result for one job: its part, or the error code and message."""

    job_id: str
    name: str
    backfill: StartedBackfill | None = None
    code: str | None = None
    message: str | None = None

    @classmethod
    def of(cls, item: GroupItem) -> "BackfillGroupItemView":
        """Returns the view of an item."""
        return cls(
            job_id=public(Prefix.JOB, item.job.id),
            name=item.job.name,
            backfill=None if item.backfill is None else StartedBackfill.of(item.backfill),
            code=None if item.refusal is None else item.refusal.code,
            message=None if item.refusal is None else str(item.refusal),
        )


class StartedBackfillGroup(ResponseModel):
    """A new backfill group, with the result for each job."""

    id: str = Field(examples=["bkg_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    items: list[BackfillGroupItemView]

    @classmethod
    def of(cls, group: GroupStart) -> "StartedBackfillGroup":
        """Returns the view of a new group."""
        return cls(
            id=public(Prefix.BACKFILL_GROUP, group.id), items=[BackfillGroupItemView.of(item) for item in group.items]
        )


class BackfillGroupView(ResponseModel):
    """A backfill group: its progress, and its parts without `ended`."""

    id: str = Field(examples=["bkg_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    status: BackfillStatus
    progress: BackfillProgressView
    parts: list[BackfillView]

    @classmethod
    def of(cls, group: GroupDetail) -> "BackfillGroupView":
        """Returns the view of a group."""
        progress = BackfillProgressView.of(group.progress)
        assert progress is not None, "a group has a progress"
        parts = [BackfillView.whole(part).model_copy(update={"ended": None}) for part in group.parts]
        return cls(id=public(Prefix.BACKFILL_GROUP, group.id), status=group.status, progress=progress, parts=parts)


def _start_fields(one: Backfill) -> dict[str, Any]:
    return {
        "id": public(Prefix.BACKFILL, one.id),
        "job_id": public(Prefix.JOB, one.job_id),
        "since": one.since,
        "until": one.until,
        "cap": one.cap,
        "rerun": one.rerun,
        "mode": one.mode,
        "newest_first": one.newest_first,
        "rate": one.rate,
        "planned": one.planned,
        "needed": one.needed,
        "group_id": None if one.group_id is None else public(Prefix.BACKFILL_GROUP, one.group_id),
        "created_at": one.created_at,
        "created_by": one.created_by,
    }
