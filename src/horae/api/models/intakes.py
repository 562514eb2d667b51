"""Intakes and parked messages as they are put and shown."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from horae.api.models.base import Name, Shown, Told
from horae.api.models.subscriptions import TopicSink, shown_sink
from horae.api.models.unreadable import Unreadable
from horae.domain.channels import MOST_FILTERS
from horae.domain.ids import Prefix, public
from horae.domain.intakes import Intake, Parked, Position
from horae.domain.sealed import unopened_code
from horae.service.intakes import Standing

SHOWN: Final = 4096
EXAMPLE: Final[JsonDict] = {
    "source": {"kind": "topic", "broker": "main", "topic": "acme.schedule-changes"},
    "types": ["ARTICLE_PUBLISH"],
}


class NewIntake(Told):
    """Which topic changes come by, and of which types they may be (all)."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    source: TopicSink
    types: Annotated[list[Name], Field(max_length=MOST_FILTERS)] = []

    def wanted(self) -> Intake:
        """As the house knows it."""
        return msgspec.convert(self.model_dump(), Intake)


class PositionView(Shown):
    """Messages taken so far and parked of them, how many lay there when it last looked, and what is wrong now."""

    taken: int
    parked: int
    taken_at: datetime | None
    waiting: int | None
    looked_at: datetime
    error: str | None

    @classmethod
    def of(cls, position: Position) -> "PositionView":
        """As it is shown."""
        return cls(**position._asdict())


class IntakeView(Shown):
    """An intake; no `position` before a node first looked there."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    paused_at: datetime | None
    source: TopicSink
    types: list[str]
    position: PositionView | None = None

    @classmethod
    def of(cls, standing: Standing) -> "IntakeView":
        """An intake as it is shown."""
        channel, intake, position = standing
        told = {"name": channel.name, "version": channel.version, "changed_by": channel.changed_by}
        times = {"created_at": channel.created_at, "changed_at": channel.changed_at, "paused_at": channel.paused_at}
        facts = {"source": shown_sink(intake.source), "types": intake.types}
        at = None if position is None else PositionView.of(position)
        return cls.model_validate({**told, **times, **facts, "position": at})


class ParkedView(Shown):
    """A message that waits for a person, where it lay and why it was refused; `body` shows its beginning."""

    id: str
    at: datetime
    intake: str
    place: str
    code: str
    reason: str
    body: str
    unreadable: Unreadable = None

    @classmethod
    def of(cls, one: Parked) -> "ParkedView":
        """A message as it is shown."""
        facts = {name: getattr(one, name) for name in ("at", "intake", "place", "code", "reason")}
        unreadable = unopened_code(one.body)
        body = "" if unreadable else one.body[:SHOWN]
        return cls(id=public(Prefix.PARKED, one.id), body=body, unreadable=unreadable, **facts)
