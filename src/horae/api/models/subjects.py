"""Models of the subjects of rolling jobs."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, RequestModel, ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.rolling.rolling import Coverage, Subject
from horae.domain.tasks.tasks import LONGEST_KEY
from horae.service.rolling.subjects import LARGEST, SubjectCount

Key = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_KEY)]
Keys = Annotated[list[Key], Field(max_length=LARGEST)]


class AddSubjects(RequestModel):
    """Keys to add to a rolling set. They run at the next tick, or at once with `at_once`, which counts as a refresh."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["product-17", "product-18"], "at_once": True}]})

    keys: Keys
    at_once: Flag = False


class RemoveSubjects(RequestModel):
    """Keys to remove from a rolling set."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["product-17"]}]})

    keys: Keys


class SubjectChangesView(ResponseModel):
    """The number of keys in the request, and the number of keys that it changed."""

    named: int
    changed: int

    @classmethod
    def of(cls, changed: SubjectCount) -> "SubjectChangesView":
        """Returns the view of the result."""
        return cls(named=changed.named, changed=changed.changed)


class SubjectView(ResponseModel):
    """A subject and its last refresh. `finished_at` is null before the first refresh and while a refresh runs."""

    key: str
    status: int = Field(description="0: never run, 1: running, 2: the last refresh succeeded, 3: it failed.")
    added_at: datetime
    updated_at: datetime = Field(description="When the subject was added, or its refresh started or ended last.")
    started_at: datetime | None
    finished_at: datetime | None
    last_success_at: datetime | None
    batch_no: str | None
    remark: str | None
    instance_id: str | None

    @classmethod
    def of(cls, subject: Subject) -> "SubjectView":
        """Returns the view of a subject."""
        instance_id, batch = subject.instance_id, subject.batch_no
        facts = {
            "instance_id": None if instance_id is None else public(Prefix.INSTANCE, instance_id),
            "batch_no": None if batch is None else batch.hex,
        }
        return cls(**subject._asdict() | facts)


class CoverageView(ResponseModel):
    """The share of fresh subjects. `met`: the target is met. `estimate_at`: expected time at the current pace."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    share: float
    met: bool
    estimate_at: datetime | None
    ages: list[int] = Field(
        description="The number of subjects by the age of their last success: within a quarter, half, three quarters "
        "and all of the window, still fresh, older, never. Empty if it was not counted."
    )

    @classmethod
    def of(cls, coverage: Coverage) -> "CoverageView":
        """Returns the view of a coverage."""
        return cls.model_validate(coverage)
