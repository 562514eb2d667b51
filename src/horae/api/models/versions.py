"""Models of changes of a job: versions, labels, single occurrences, and differences between versions."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace
from pydantic import ConfigDict, Field, StrictInt, StrictStr

from horae.api.models.base import Moment, RequestModel, ResponseModel
from horae.api.models.job_people import PeopleSpec
from horae.api.models.jobs import JobSpec, Label
from horae.api.models.unreadable import Unreadable
from horae.domain.jobs.diffs import FieldDifference
from horae.domain.jobs.jobs import LAST_VERSION, LONGEST_LABEL, MOST_LABELS, Definition, Job
from horae.domain.tenants.tenants import Tenant
from horae.service.jobs.versions import Version

LabelKey = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_LABEL)]


class UpdateJob(JobSpec):
    """The next version of a job, complete. `version` is the current version; a newer version is a conflict."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"version": 1, "cron": "0 */10 * * * ?", "labels": {"team": "coupons"}}]}
    )

    version: Annotated[StrictInt, Field(ge=1, le=LAST_VERSION)]

    def next(self, tenant: Tenant, job: Job, now: datetime) -> Definition:
        """Returns the new definition. Fields that only other requests set are kept."""
        made, before = self.definition(tenant, job.name, now), job.definition
        same = made.trigger == before.trigger
        return replace(
            made,
            overrides=before.overrides if same else (),
            width=before.width if self.width is None else made.width,
        )


class SetLabels(RequestModel):
    """Labels to set. A null value removes a label; other labels are kept."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"labels": {"team": "coupons", "old": None}}]})

    labels: Annotated[dict[LabelKey, Label | None], Field(min_length=1, max_length=MOST_LABELS)]


class SetPeople(PeopleSpec):
    """Fields for people and alerts to set. A null value clears a field; fields that are left out are kept."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"owner": "orders-team", "contacts": ["orders-oncall"], "late_after": None}]}
    )

    def changes(self) -> dict[str, Any]:
        """Returns the fields that were given, as the domain has them."""
        given = self.model_dump(exclude_unset=True)
        return given | ({"contacts": tuple(self.contacts or ())} if "contacts" in given else {})


class Occurrence(RequestModel):
    """One coming fire, by its scheduled time."""

    at: Moment


class MoveOccurrence(Occurrence):
    """One coming fire, and its new time."""

    to: Moment


class JobVersionView(ResponseModel):
    """A version of a job."""

    version: int
    created_at: datetime
    created_by: str
    definition: dict[str, Any]
    unreadable: Unreadable = None

    @classmethod
    def of(cls, version: Version) -> "JobVersionView":
        """Returns the view of a version."""
        return cls(**version._asdict())


class JobDifferenceView(ResponseModel):
    """One difference between two versions. `text` is a line for people."""

    path: str
    text: str
    before: Any = None
    after: Any = None

    @classmethod
    def of(cls, one: FieldDifference) -> "JobDifferenceView":
        """Returns the view of a difference. A missing value is null."""
        before, after = (None if value is msgspec.UNSET else value for value in (one.before, one.after))
        return cls(path=one.path, text=one.text, before=before, after=after)
