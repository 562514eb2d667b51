"""Models of forecasts: the busiest seconds, proposals to spread jobs, and the effect of a job that is not saved."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from horae.api.models.base import Name, RequestModel, ResponseModel
from horae.api.models.plans import MAX_SPREAD_JOBS
from horae.domain.forecast import MAX_DELAY_S, Peak, StayReason
from horae.service.schedules.forecasts import (
    BusySecond,
    CapacityLimit,
    ForecastResult,
    SpreadResult,
    WhatIf,
    WorstSeconds,
)

NAMED: Final = 10
"""The number of jobs of a busy second that are named."""
MAX_HOURS: Final = 72
Hours = Annotated[
    float, Field(strict=True, gt=0, le=MAX_HOURS, allow_inf_nan=False, description="Number of hours to forecast.")
]


class BusiestSecond(ResponseModel):
    """A second with many fires, and the names of the first jobs that fire in it."""

    at: datetime
    fires: int
    jobs: list[str] = []


class ForecastView(ResponseModel):
    """The number of fires in the coming hours: in total, per minute, and in the busiest seconds.

    `jobs` is the number of jobs that were counted. `complete` is false if the tenant has too many jobs to count all.
    """

    since: datetime
    jobs: int
    complete: bool
    total: int
    per_minute: list[int]
    worst: list[BusiestSecond]

    @classmethod
    def of(cls, made: ForecastResult) -> "ForecastView":
        """Returns the view of a forecast."""
        one = made.forecast
        worst = [BusiestSecond(at=at, fires=fires, jobs=jobs[:NAMED]) for at, fires, jobs in made.worst]
        return cls(
            since=one.since,
            jobs=made.jobs,
            complete=made.complete,
            total=one.total,
            per_minute=one.per_minute,
            worst=worst,
        )


class PeakView(ResponseModel):
    """A busy second or minute, and its fires."""

    at: datetime
    fires: int

    @classmethod
    def of(cls, peak: Peak | None) -> "PeakView | None":
        """Returns the view of a peak."""
        return None if peak is None else cls(at=peak.at, fires=peak.fires)


class BusyJobView(ResponseModel):
    """A job that fires in a busy second."""

    name: str
    owner: str | None = None
    source: str | None = Field(None, description="The source of schedules that declares it.")
    fires: int = Field(description="Its fires in the whole forecast.")
    window: float = Field(description="Its spread window in seconds.")
    exact: bool = Field(description="Whether its owner needs its exact second.")


class BusySecondView(ResponseModel):
    """A busy second: its fires, and the first jobs by name that fire in it."""

    at: datetime
    fires: int
    jobs: list[BusyJobView]

    @classmethod
    def of(cls, one: BusySecond) -> "BusySecondView":
        """Returns the view of a busy second."""
        return cls(at=one.at, fires=one.fires, jobs=[_job(busy.job, busy.fires) for busy in one.jobs])


def _job(job: Any, fires: int) -> BusyJobView:
    spread = job.schedule.policies.spread
    return BusyJobView(
        name=job.name, owner=job.owner, source=job.source, fires=fires, window=spread.window, exact=spread.exact
    )


class WorstSecondsView(ResponseModel):
    """The busiest seconds of the forecast with their jobs, the worst first, and the busiest minutes."""

    since: datetime
    complete: bool
    seconds: list[BusySecondView]
    minutes: list[PeakView]

    @classmethod
    def of(cls, found: WorstSeconds) -> "WorstSecondsView":
        """Returns the view of the busiest seconds."""
        return cls(
            since=found.since,
            complete=found.complete,
            seconds=[BusySecondView.of(one) for one in found.seconds],
            minutes=[PeakView(at=one.at, fires=one.fires) for one in found.minutes],
        )


class SpreadRequest(RequestModel):
    """Jobs of a busy second, and by how many seconds their fires may be delayed."""

    jobs: Annotated[list[Name], Field(min_length=1, max_length=MAX_SPREAD_JOBS)]
    hours: Hours = 24.0
    within: Annotated[int, Field(strict=True, ge=1, le=MAX_DELAY_S, description="Seconds.")] = 300


class SpreadMoveView(ResponseModel):
    """A job with the window that it would get; all its fires are due `later_s` seconds later then."""

    job: str
    owner: str | None = None
    source: str | None = Field(None, description="The source of schedules that declares it: change its file too.")
    version: int
    window: int
    later_s: int


class SpreadStayView(ResponseModel):
    """A job that stays at its seconds, and why."""

    job: str
    reason: StayReason


class SpreadProposalView(ResponseModel):
    """Windows for jobs of busy seconds, and the peak before and after. Nothing is saved.

    `own_before` and `own_after` are the busiest seconds in which the named jobs fire. `plan` is the body of
    `POST /plans` and `POST /plans/apply` that sets the windows; null if no job is moved.
    """

    since: datetime
    complete: bool
    before: PeakView | None = None
    after: PeakView | None = None
    own_before: PeakView | None = None
    own_after: PeakView | None = None
    moves: list[SpreadMoveView]
    stays: list[SpreadStayView]
    plan: dict[str, Any] | None = None

    @classmethod
    def of(cls, found: SpreadResult) -> "SpreadProposalView":
        """Returns the view of a proposal."""
        made, jobs = found.proposal, found.jobs
        windows = {one.name: {"version": jobs[one.name].version, "window": one.window} for one in made.moves}
        return cls(
            since=found.since,
            complete=found.complete,
            before=PeakView.of(made.before),
            after=PeakView.of(made.after),
            own_before=PeakView.of(made.own_before),
            own_after=PeakView.of(made.own_after),
            moves=[
                SpreadMoveView(
                    job=one.name,
                    owner=jobs[one.name].owner,
                    source=jobs[one.name].source,
                    version=jobs[one.name].version,
                    window=one.window,
                    later_s=one.later_s,
                )
                for one in made.moves
            ],
            stays=[SpreadStayView(job=name, reason=reason) for name, reason in made.stays],
            plan={"spread": windows} if windows else None,
        )


class WhatIfView(ResponseModel):
    """The effect of a job on the forecast. Nothing is saved.

    `before` and `after` are the busiest second of all jobs, `own` the busiest second in which the job itself fires.
    """

    since: datetime
    complete: bool
    before: PeakView | None = None
    after: PeakView | None = None
    own: PeakView | None = None
    fires_before: int = Field(description="Fires of the stored job of that name; 0 without one.")
    fires_after: int
    capacity: float = Field(description="Fires a second that can start.")
    limited_by: CapacityLimit = Field(
        description="What the capacity is: the measured rate of the cells, or the limit of the tenant."
    )
    share: float = Field(description="The busiest second afterwards as a share of the capacity.")

    @classmethod
    def of(cls, found: WhatIf) -> "WhatIfView":
        """Returns the view of an effect."""
        change = found.change
        return cls(
            since=found.since,
            complete=found.complete,
            before=PeakView.of(change.before),
            after=PeakView.of(change.after),
            own=PeakView.of(change.own),
            fires_before=change.fires_before,
            fires_after=change.fires_after,
            capacity=found.capacity,
            limited_by=found.limited_by,
            share=0.0 if change.after is None else change.after.fires / found.capacity,
        )
