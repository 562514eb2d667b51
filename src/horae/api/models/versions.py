"""Changes of a job: its next version, its labels, single occurrences, versions and what differs between two."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace
from pydantic import ConfigDict, Field, StrictInt, StrictStr

from horae.api.models.base import Moment, Shown, Told
from horae.api.models.jobs import JobSpec, Label
from horae.api.models.unreadable import Unreadable
from horae.domain.diffs import Difference
from horae.domain.jobs import Definition, Job
from horae.domain.tenants import Tenant
from horae.service.versions import Version

LabelKey = Annotated[StrictStr, Field(min_length=1, max_length=63)]


class ChangedJob(JobSpec):
    """The next version of a job, whole. `version` is the one it was made from: another one meanwhile is a conflict."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"version": 1, "cron": "0 */10 * * * ?", "labels": {"team": "coupons"}}]}
    )

    version: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]

    def next(self, tenant: Tenant, job: Job, now: datetime) -> Definition:
        """In the words of the domain; what only other verbs set stays as it is."""
        told, before = self.model_copy(), job.definition
        made = JobSpec.definition(told, tenant, job.name, now)
        same = made.trigger == before.trigger
        return replace(
            made,
            overrides=before.overrides if same else (),
            width=before.width if self.width is None else made.width,
            key_retention_days=before.key_retention_days,
        )

    def definition(self, tenant: Tenant, name: str, now: datetime) -> Definition:
        """Without the version it speaks of."""
        return JobSpec(**self.model_dump(exclude_unset=True, exclude={"version"})).definition(tenant, name, now)


class Labels(Told):
    """Labels to set; those with null are taken away, all others stay."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"labels": {"team": "coupons", "old": None}}]})

    labels: Annotated[dict[LabelKey, Label | None], Field(min_length=1, max_length=32)]


class Occurrence(Told):
    """One coming fire, by its nominal time."""

    at: Moment


class MovedOccurrence(Occurrence):
    """One coming fire and when it is to happen instead."""

    to: Moment


class VersionView(Shown):
    """One version of a job."""

    version: int
    created_at: datetime
    created_by: str
    definition: dict[str, Any]
    unreadable: Unreadable = None

    @classmethod
    def of(cls, version: Version) -> "VersionView":
        """A version as it is shown."""
        return cls(**version._asdict())


class DifferenceView(Shown):
    """One place that differs: `text` is a line to read."""

    path: str
    text: str
    before: Any = None
    after: Any = None

    @classmethod
    def of(cls, one: Difference) -> "DifferenceView":
        """A difference as it is shown; what was not there is null."""
        before, after = (None if value is msgspec.UNSET else value for value in (one.before, one.after))
        return cls(path=one.path, text=one.text, before=before, after=after)
