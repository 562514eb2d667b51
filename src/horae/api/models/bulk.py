"""One action on many jobs."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool, StrictStr

from horae.api.models.base import RequestModel, ResponseModel
from horae.api.models.job_people import Owner
from horae.api.models.jobs import Label
from horae.api.models.versions import LabelKey
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import MOST_LABELS, JobFilter, Status
from horae.domain.names import LONGEST_NAME
from horae.service.jobs.bulk import MOST, BulkAction, BulkResult, Item

JobName = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]
Contains = Annotated[
    StrictStr, Field(max_length=LONGEST_NAME, description="Filter on a part of the job name, in upper or lower case.")
]


class BulkJobsRequest(RequestModel):
    """An action, and a filter for its jobs. The jobs are processed in the order of their names, from `after` on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verb": "pause", "labels": {"team": "coupons"}}]})

    verb: BulkAction
    status: Annotated[Status | None, Field(description="Filter on the status of the job.")] = None
    labels: Annotated[
        dict[LabelKey, Label],
        Field(max_length=MOST_LABELS, description="Filter on labels: jobs that have all of them."),
    ] = {}
    with_labels: Annotated[
        list[LabelKey],
        Field(max_length=MOST_LABELS, description="Filter on labels: jobs that have them, with any value."),
    ] = []
    owner: Owner | None = Field(None, description="Filter on the owner of the job.")
    prefix: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="Prefix filter on the job name.")] = ""
    contains: Contains = ""
    names: Annotated[
        list[JobName], Field(max_length=MOST, description="Only the jobs with these names. Unknown names are left out.")
    ] = []
    dry_run: StrictBool = Field(
        False, description="Change nothing: the result says what the status of each job allows now."
    )
    after: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="`next` of the previous response.")] = ""
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST, description="Maximum number of jobs.")] = 100

    def to_domain(self) -> JobFilter:
        """Returns the filter as the domain has it."""
        return JobFilter(
            status=self.status,
            labels=self.labels,
            with_labels=tuple(self.with_labels),
            prefix=self.prefix,
            owner=self.owner,
            contains=self.contains,
            names=tuple(self.names),
        )


class BulkItemView(ResponseModel):
    """The result for one job: the new instances, or the error code and message."""

    job_id: str
    name: str
    ok: bool
    instances: list[str] = []
    code: str | None = None
    message: str | None = None

    @classmethod
    def of(cls, item: Item) -> "BulkItemView":
        """Returns the view of an item."""
        made = [public(Prefix.INSTANCE, id_) for id_ in item.instances]
        return cls(job_id=item.job_id, name=item.name, ok=item.ok, instances=made, code=item.code, message=item.message)


class BulkResultView(ResponseModel):
    """A result for each job. If more jobs match, send `next` as `after` in the next request."""

    items: list[BulkItemView]
    next: str | None = None

    @classmethod
    def of(cls, done: BulkResult) -> "BulkResultView":
        """Returns the view of a bulk result."""
        items: list[Any] = [BulkItemView.of(item) for item in done.items]
        return cls(items=items, next=done.next)
