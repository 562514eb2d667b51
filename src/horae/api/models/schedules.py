"""Models of the triggers and policies of a job."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from horae.api.models.base import Count, Moment, Name, Number, RequestModel, Seconds
from horae.api.models.showing import SPARSE
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.schedules import OnMisfire, OnOverlap
from horae.domain.schedules.calendar_windows import MAX_DAYS, MAX_MONTHS
from horae.domain.schedules.calendars import CalendarMode
from horae.domain.schedules.misfire import MOST
from horae.domain.schedules.spread import MAX_SPREAD_S
from horae.domain.schedules.triggers import MAX_INTERVAL_S, MIN_INTERVAL_S

Expression = Annotated[str, Field(strict=True, min_length=1, max_length=400, examples=["0 */5 * * * ?"])]
Zone = Annotated[str, Field(strict=True, min_length=1, max_length=64, examples=["Asia/Shanghai"])]


class CronTriggerSpec(RequestModel):
    """A cron expression. The default dialect is `unix5` for 5 fields, `spring6` for 6 and `quartz7` for 7."""

    kind: Literal["cron"]
    expression: Expression
    dialect: Dialect | None = None
    zone: Zone | None = Field(None, description="An IANA time zone. The default is the zone of the tenant.")
    dst_gap: Gap = Gap.FIRE_AFTER
    dst_overlap: Overlap = Overlap.FIRST


class CronTriggerView(CronTriggerSpec):
    """A cron trigger of a job, with the release of the time zone data that its fires were computed with."""

    tzdata: str = ""


class IntervalTriggerSpec(RequestModel):
    """Fires every `every` seconds, counted from `anchor` (default: now)."""

    kind: Literal["interval"]
    every: Annotated[Number, Field(ge=MIN_INTERVAL_S, le=MAX_INTERVAL_S)]
    anchor: Moment | None = None


class OnceTriggerSpec(RequestModel):
    """Fires once, at a fixed time."""

    kind: Literal["once"]
    at: Moment


class DelayTriggerSpec(RequestModel):
    """Fires once, `seconds` after the job is created."""

    kind: Literal["delay"]
    seconds: Seconds


class KeyedTriggerSpec(RequestModel):
    """A task type: each business key has its own time."""

    kind: Literal["keyed"]


class CalendarWindowSpec(RequestModel):
    """A window in days or in calendar months, on the clocks of a zone. A day there has 23 to 25 hours."""

    days: Annotated[int, Field(strict=True, ge=1, le=MAX_DAYS)] | None = None
    months: Annotated[int, Field(strict=True, ge=1, le=MAX_MONTHS)] | None = None
    zone: Zone | None = Field(None, description="An IANA time zone. The default is the zone of the tenant.")


class RollingTriggerSpec(RequestModel):
    """A rolling set: each subject is refreshed at most once per window. Each tick calls the oldest subjects."""

    kind: Literal["rolling"]
    window: Annotated[Number, Field(ge=MIN_INTERVAL_S, le=MAX_INTERVAL_S)] | CalendarWindowSpec = Field(
        description="Time between two refreshes of a subject: seconds, or days or calendar months."
    )
    every: Annotated[Number, Field(ge=MIN_INTERVAL_S, le=MAX_INTERVAL_S)] | CronTriggerView = Field(
        description="When ticks come: seconds between two of them, or a cron schedule."
    )
    anchor: Moment | None = None
    budget: Annotated[Number, Field(gt=0, le=MAX_INTERVAL_S)] | None = Field(
        None, description="Seconds of each tick in which calls are sent. The default is the whole tick."
    )
    share: Annotated[Number, Field(gt=0, le=1, description="The target share of fresh subjects.")] = 0.999
    fresh: Annotated[Number, Field(ge=MIN_INTERVAL_S, le=MAX_INTERVAL_S)] | None = Field(
        None,
        description="Seconds for which a subject is fresh after a success. The default is the window and two ticks.",
    )


class ManualTriggerSpec(RequestModel):
    """Fires only when it is triggered."""

    kind: Literal["manual"]


NotCron = (
    IntervalTriggerSpec | OnceTriggerSpec | DelayTriggerSpec | KeyedTriggerSpec | RollingTriggerSpec | ManualTriggerSpec
)
Trigger = Annotated[CronTriggerSpec | NotCron, Field(discriminator="kind")]
TriggerView = Annotated[CronTriggerView | NotCron, Field(discriminator="kind"), SPARSE]
"""The trigger of a job in a response."""


class MisfireSpec(RequestModel):
    """What happens with missed fires."""

    policy: OnMisfire = OnMisfire.ONCE
    max_lateness: Seconds | None = None
    cap: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    pace: Seconds = 0.0


class SpreadSpec(RequestModel):
    """Delays that spread fires, in seconds: one for all fires, up to `window`, and one per fire, up to `jitter`.

    With `exact` the job needs the seconds of its schedule: nothing proposes to move its fires.
    """

    window: Annotated[Number, Field(ge=0, le=MAX_SPREAD_S)] = 0.0
    jitter: Annotated[Number, Field(ge=0, le=MAX_SPREAD_S)] = 0.0
    exact: StrictBool = False


class CalendarRule(RequestModel):
    """A calendar of the schedule, which includes or excludes its days."""

    calendar: Name
    mode: CalendarMode = CalendarMode.INCLUDE


class PoliciesSpec(RequestModel):
    """The policies of a schedule: misfires, overlap, spread, calendars and bounds."""

    misfire: MisfireSpec = MisfireSpec()
    overlap: OnOverlap = OnOverlap.ALLOW
    spread: SpreadSpec = SpreadSpec()
    calendars: Annotated[list[CalendarRule], Field(max_length=20)] = []
    start: Moment | None = None
    end: Moment | None = None
    max_count: Count | None = None
