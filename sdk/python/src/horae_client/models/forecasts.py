"""Forecasts: the busiest seconds with their jobs, proposals to spread jobs, and the effect of an unsaved job."""

from datetime import datetime
from typing import Any

from horae_client.models.base import Model


class Peak(Model, frozen=True, kw_only=True):
    """A busy second or minute, and its fires."""

    at: datetime
    fires: int


class BusyJob(Model, frozen=True, kw_only=True):
    """A job that fires in a busy second; `fires` counts the whole forecast, `source` is the source that declares it."""

    name: str
    owner: str | None = None
    source: str | None = None
    fires: int
    window: float = 0.0
    exact: bool = False


class BusySecond(Peak, frozen=True, kw_only=True):
    """A busy second, and the first jobs by name that fire in it."""

    jobs: list[BusyJob]


class WorstSeconds(Model, frozen=True, kw_only=True):
    """The busiest seconds of the forecast with their jobs, the worst first, and the busiest minutes."""

    since: datetime
    complete: bool
    seconds: list[BusySecond]
    minutes: list[Peak]


class SpreadMove(Model, frozen=True, kw_only=True):
    """A job with the window that it would get; all its fires are due `later_s` seconds later then."""

    job: str
    owner: str | None = None
    source: str | None = None
    version: int
    window: int
    later_s: int


class SpreadStay(Model, frozen=True, kw_only=True):
    """A job that stays at its seconds, and why, as `EXACT`, `ALREADY_SPREAD` or `NO_GAIN`."""

    job: str
    reason: str


class SpreadProposal(Model, frozen=True, kw_only=True):
    """Windows for jobs of busy seconds, and the peak before and after.

    `own_before` and `own_after` are the busiest seconds in which the named jobs fire. `plan` is what
    `plans.apply_spread` takes; None if no job is moved.
    """

    since: datetime
    complete: bool
    before: Peak | None = None
    after: Peak | None = None
    own_before: Peak | None = None
    own_after: Peak | None = None
    moves: list[SpreadMove]
    stays: list[SpreadStay]
    plan: dict[str, Any] | None = None


class ForecastEffect(Model, frozen=True, kw_only=True):
    """The effect of a job on the forecast.

    `before` and `after` are the busiest second of all jobs, `own` that in which the job itself fires. `share` is
    `after` as a share of `capacity`, in fires a second; `limited_by` is `CELLS` or `TENANT_LIMIT`.
    """

    since: datetime
    complete: bool
    before: Peak | None = None
    after: Peak | None = None
    own: Peak | None = None
    fires_before: int
    fires_after: int
    capacity: float
    limited_by: str
    share: float
