"""One verb for many jobs."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictStr

from horae.api.models.base import Shown, Told
from horae.api.models.jobs import Label
from horae.api.models.versions import LabelKey
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Status, Wanted
from horae.service.bulk import Done, Item, Verb


class Many(Told):
    """What to do, and to which jobs: by status, labels or the beginning of their names, by name `after` one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verb": "pause", "labels": {"team": "coupons"}}]})

    verb: Verb
    status: Status | None = None
    labels: Annotated[dict[LabelKey, Label], Field(max_length=32)] = {}
    prefix: Annotated[StrictStr, Field(max_length=120)] = ""
    after: Annotated[StrictStr, Field(max_length=120)] = ""
    limit: Annotated[int, Field(strict=True, ge=1, le=1000)] = 100

    def wanted(self) -> Wanted:
        """In the words of the domain."""
        return Wanted(status=self.status, labels=self.labels, prefix=self.prefix)


class ItemView(Shown):
    """What became of one job."""

    job_id: str
    name: str
    ok: bool
    instances: list[str] = []
    code: str | None = None
    message: str | None = None

    @classmethod
    def of(cls, item: Item) -> "ItemView":
        """An item as it is shown."""
        made = [public(Prefix.INSTANCE, id_) for id_ in item.instances]
        return cls(job_id=item.job_id, name=item.name, ok=item.ok, instances=made, code=item.code, message=item.message)


class DoneView(Shown):
    """An answer for each job; where there were more than asked for, go on `after` the name in `next`."""

    items: list[ItemView]
    next: str | None = None

    @classmethod
    def of(cls, done: Done) -> "DoneView":
        """What was done as it is shown."""
        items: list[Any] = [ItemView.of(item) for item in done.items]
        return cls(items=items, next=done.next)
