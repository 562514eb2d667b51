"""Triggers and policies of a job."""

from typing import Annotated, Literal

from pydantic import Field

from horae.api.models.base import Count, Moment, Name, Number, Seconds, Told
from horae.domain.calendars import Mode
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.schedule import OnMisfire, OnOverlap

Expression = Annotated[str, Field(strict=True, min_length=1, max_length=400, examples=["0 */5 * * * ?"])]
Zone = Annotated[str, Field(strict=True, min_length=1, max_length=64, examples=["Asia/Shanghai"])]


class Cron(Told):
    """A cron expression: 5 fields `unix5`, 6 `spring6`, 7 `quartz7`, where the dialect is left out."""

    kind: Literal["cron"]
    expression: Expression
    dialect: Dialect | None = None
    zone: Zone | None = Field(None, description="An IANA zone; the tenant's own where it is left out.")
    dst_gap: Gap = Gap.FIRE_AFTER
    dst_overlap: Overlap = Overlap.FIRST


class Interval(Told):
    """Every so many seconds, counted from an anchor; from now where it is left out."""

    kind: Literal["interval"]
    every: Annotated[Number, Field(ge=1, le=366 * 86400)]
    anchor: Moment | None = None


class Once(Told):
    """At one time."""

    kind: Literal["once"]
    at: Moment


class Delay(Told):
    """So many seconds from now."""

    kind: Literal["delay"]
    seconds: Seconds


class Keyed(Told):
    """A type of tasks: each business key has its own time."""

    kind: Literal["keyed"]


class Rolling(Told):
    """A set of subjects, each refreshed at most once in a window; ticks take the oldest and spread their calls."""

    kind: Literal["rolling"]
    window: Annotated[Number, Field(ge=1, le=366 * 86400, description="Seconds between two refreshes of a subject.")]
    every: Annotated[Number, Field(ge=1, le=366 * 86400, description="Seconds from tick to tick.")]
    anchor: Moment | None = None
    budget: Annotated[Number, Field(gt=0, le=366 * 86400)] | None = Field(
        None, description="Seconds of a tick in which calls are made; all of it where it is left out."
    )
    share: Annotated[Number, Field(gt=0, le=1, description="Which share of the subjects should be fresh.")] = 0.999
    fresh: Annotated[Number, Field(ge=1, le=366 * 86400)] | None = None


class Manual(Told):
    """Only when someone asks."""

    kind: Literal["manual"]


Trigger = Annotated[Cron | Interval | Once | Delay | Keyed | Rolling | Manual, Field(discriminator="kind")]


class Misfire(Told):
    """What becomes of missed fires."""

    policy: OnMisfire = OnMisfire.ONCE
    max_lateness: Seconds | None = None
    cap: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    pace: Seconds = 0.0


class Spread(Told):
    """Moves fires off the full minute."""

    window: Annotated[Number, Field(ge=0, le=86_400)] = 0.0
    jitter: Annotated[Number, Field(ge=0, le=86_400)] = 0.0


class CalendarRule(Told):
    """The job's use of one calendar."""

    calendar: Name
    mode: Mode = Mode.INCLUDE


class Policies(Told):
    """How a job's fires are bounded, spread, filtered and made up for."""

    misfire: Misfire = Misfire()
    overlap: OnOverlap = OnOverlap.ALLOW
    spread: Spread = Spread()
    calendars: Annotated[list[CalendarRule], Field(max_length=20)] = []
    start: Moment | None = None
    end: Moment | None = None
    max_count: Count | None = None
