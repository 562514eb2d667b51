"""Models of calendars, and of the preview of a change."""

from datetime import date, datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Day, RequestModel, ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Status
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules.calendars import Calendar
from horae.service.schedules.calendar_previews import MAX_JOBS, CalendarPreview, JobEffect

Days = Annotated[list[Day], Field(max_length=5000)]


class NewCalendar(RequestModel):
    """A set of days from `first` to `last`: weekdays (1 is Monday), plus `added` days, minus `removed` days."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"first": "2026-01-01", "last": "2026-12-31", "weekdays": [1, 2, 3, 4, 5], "removed": ["2026-10-01"]}
            ]
        }
    )

    first: Day
    last: Day
    weekdays: Annotated[list[Annotated[int, Field(strict=True, ge=1, le=7)]], Field(max_length=7)] = []
    added: Days = []
    removed: Days = []

    def to_domain(self, name: str) -> Calendar:
        """Returns the calendar of the domain."""
        return Calendar(
            name=name,
            first=self.first,
            last=self.last,
            weekdays=frozenset(self.weekdays),
            added=frozenset(self.added),
            removed=frozenset(self.removed),
        )


class CalendarView(ResponseModel):
    """A calendar: a set of days that schedules include or exclude."""

    name: str
    first: date
    last: date
    weekdays: list[int]
    added: list[date]
    removed: list[date]

    @classmethod
    def of(cls, one: Calendar) -> "CalendarView":
        """Returns the view of a calendar, with its days in order."""
        return cls(
            name=one.name,
            first=one.first,
            last=one.last,
            weekdays=sorted(one.weekdays),
            added=sorted(one.added),
            removed=sorted(one.removed),
        )


class SavedCalendarView(CalendarView):
    """The saved calendar, and the jobs whose next fire moved."""

    moved: list[str]


class PreviewCalendar(NewCalendar):
    """A calendar as it would be saved, and how far to look ahead. Jobs are compared by name, from `after` on."""

    days: Annotated[int, Field(strict=True, ge=1, le=366, description="Number of days to look ahead.")] = 90
    after: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="`next` of the previous response.")] = ""
    limit: Annotated[int, Field(strict=True, ge=1, le=MAX_JOBS, description="Maximum number of jobs.")] = 20


class CalendarEffectView(ResponseModel):
    """A job that uses the calendar, and what the change does to its coming fires."""

    job_id: str
    job: str
    owner: str | None = None
    status: Status
    next_before: datetime | None = Field(None, description="The next fire with the calendar as it is.")
    next_after: datetime | None = Field(None, description="The next fire with the changed calendar.")
    added: list[datetime] = Field([], description="Fire times that are skipped now and would run.")
    removed: list[datetime] = Field([], description="Fire times that would run now and would be skipped.")
    until: datetime | None = Field(
        None,
        description="The job was compared up to here. It is earlier than `until` of the response where more than 200 "
        "fires change. Null if the job fires by no schedule.",
    )

    @classmethod
    def of(cls, effect: JobEffect) -> "CalendarEffectView":
        """Returns the view of an effect."""
        job, changes = effect
        return cls(
            job_id=public(Prefix.JOB, job.id),
            job=job.name,
            owner=job.definition.owner,
            status=job.status,
            **({} if changes is None else changes._asdict()),
        )


class CalendarPreviewView(ResponseModel):
    """What saving a calendar would change. If more jobs use it, send `next` as `after` in the next request."""

    since: datetime
    until: datetime
    jobs: list[CalendarEffectView]
    next: str | None = None

    @classmethod
    def of(cls, found: CalendarPreview) -> "CalendarPreviewView":
        """Returns the view of a preview."""
        jobs = [CalendarEffectView.of(one) for one in found.effects]
        return cls(since=found.since, until=found.until, jobs=jobs, next=found.next)
