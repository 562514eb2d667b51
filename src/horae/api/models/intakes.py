"""Models of intakes and parked messages."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from horae.api.models.base import Name, RequestModel, ResponseModel
from horae.api.models.channels import ChannelView
from horae.api.models.subscriptions import TopicSink, sink_view
from horae.api.models.unreadable import Unreadable
from horae.domain.encryption.encrypted_values import undecryptable_code
from horae.domain.events.channels import MOST_FILTERS
from horae.domain.events.intakes import Intake, ParkedMessage, Position
from horae.domain.ids import Prefix, public
from horae.service.events.intakes import IntakeDetail

MAX_BODY_CHARACTERS: Final = 4096
EXAMPLE: Final[JsonDict] = {
    "source": {"kind": "topic", "broker": "main", "topic": "acme.schedule-changes"},
    "types": ["ARTICLE_PUBLISH"],
}


class NewIntake(RequestModel):
    """A topic to read schedule changes from, and the task types that it may change (default: all)."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    source: TopicSink
    types: Annotated[list[Name], Field(max_length=MOST_FILTERS)] = []

    def to_domain(self) -> Intake:
        """Returns the intake of the domain."""
        return msgspec.convert(self.model_dump(), Intake)


class IntakePositionView(ResponseModel):
    """The position of an intake: messages taken, messages parked, messages waiting, and the current error."""

    taken: int
    parked: int
    taken_at: datetime | None
    waiting: int | None
    looked_at: datetime
    error: str | None

    @classmethod
    def of(cls, position: Position) -> "IntakePositionView":
        """Returns the view of a position."""
        return cls(**position._asdict())


class IntakeView(ChannelView):
    """An intake. `position` is null until a node has read the topic for the first time."""

    source: TopicSink
    types: list[str]
    position: IntakePositionView | None = None

    @classmethod
    def of(cls, detail: IntakeDetail) -> "IntakeView":
        """Returns the view of an intake."""
        channel, intake, position = detail
        facts = {"source": sink_view(intake.source), "types": intake.types}
        at = None if position is None else IntakePositionView.of(position)
        return cls.model_validate({**cls.facts(channel), **facts, "position": at})


class ParkedMessageView(ResponseModel):
    """A message that could not be processed and needs a decision. `body` has the beginning of the message."""

    id: str
    at: datetime
    intake: str
    place: str
    code: str
    reason: str
    body: str
    unreadable: Unreadable = None

    @classmethod
    def of(cls, one: ParkedMessage) -> "ParkedMessageView":
        """Returns the view of a parked message."""
        facts = {name: getattr(one, name) for name in ("at", "intake", "place", "code", "reason")}
        unreadable = undecryptable_code(one.body)
        body = "" if unreadable else one.body[:MAX_BODY_CHARACTERS]
        return cls(id=public(Prefix.PARKED, one.id), body=body, unreadable=unreadable, **facts)
