"""Subjects of rolling jobs as they are put in, listed and counted."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from horae.api.models.base import Flag, Shown, Told
from horae.domain.ids import Prefix, public
from horae.domain.rolling import Coverage, Subject
from horae.domain.tasks import LONGEST_KEY
from horae.service.subjects import LARGEST, Changed

Key = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_KEY)]
Keys = Annotated[list[Key], Field(max_length=LARGEST)]


class AddSubjects(Told):
    """Keys to be put into a set. They run at the next tick, or at once, which then counts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["product-17", "product-18"], "at_once": True}]})

    keys: Keys
    at_once: Flag = False


class RemoveSubjects(Told):
    """Keys to be taken out of a set."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": ["product-17"]}]})

    keys: Keys


class ChangedView(Shown):
    """How many keys were named, and for how many of them that changed something."""

    named: int
    changed: int

    @classmethod
    def of(cls, changed: Changed) -> "ChangedView":
        """As it is shown."""
        return cls(named=changed.named, changed=changed.changed)


class SubjectView(Shown):
    """A subject and its last refresh. `finished_at` is null while a refresh is under way, and before the first."""

    key: str
    added_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    last_success_at: datetime | None
    batch_no: str | None
    remark: str | None
    instance_id: str | None

    @classmethod
    def of(cls, subject: Subject) -> "SubjectView":
        """A subject as it is shown."""
        born, batch = subject.instance_id, subject.batch_no
        told = {
            "instance_id": None if born is None else public(Prefix.INSTANCE, born),
            "batch_no": None if batch is None else batch.hex,
        }
        return cls(**subject._asdict() | told)


class CoverageView(Shown):
    """How many subjects are fresh, whether that is enough, and when it will be by the pace of the last minute."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    share: float
    met: bool
    estimate_at: datetime | None
    ages: list[int] = Field(
        description="How many succeeded last within a quarter, half, three quarters and all of the window, while still "
        "fresh, before that, never; empty where that was not counted."
    )

    @classmethod
    def of(cls, coverage: Coverage) -> "CoverageView":
        """As it is shown."""
        return cls.model_validate(coverage)
