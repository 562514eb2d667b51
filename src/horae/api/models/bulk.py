"""One action on many jobs."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import RequestModel, ResponseModel
from horae.api.models.job_people import Owner
from horae.api.models.jobs import Label
from horae.api.models.versions import LabelKey
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import MOST_LABELS, JobFilter, Status
from horae.domain.names import LONGEST_NAME
from horae.service.jobs.bulk import MOST, BulkAction, BulkResult, Item


class BulkJobsRequest(RequestModel):
    """An action, and a filter for its jobs. The jobs are processed in the order of their names, from `after` on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verb": "pause", "labels": {"team": "coupons"}}]})

    verb: BulkAction
    status: Annotated[Status | None, Field(description="Filter on the status of the job.")] = None
    labels: Annotated[
        dict[LabelKey, Label],
        Field(max_length=MOST_LABELS, description="Filter on labels: jobs that have all of them."),
    ] = {}
    owner: Owner | None = Field(None, description="Filter on the owner of the job.")
    prefix: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="Prefix filter on the job name.")] = ""
    after: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="`next` of the previous response.")] = ""
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST, description="Maximum number of jobs.")] = 100

    def to_domain(self) -> JobFilter:
        """Returns the filter as the domain has it."""
        return JobFilter(status=self.status, labels=self.labels, prefix=self.prefix, owner=self.owner)


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
