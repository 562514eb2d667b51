"""Models of event subscriptions."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from horae.api.models.base import Moment, Name, RequestModel, ResponseModel, Text
from horae.api.models.channels import ChannelView
from horae.api.models.showing import show_as
from horae.domain.events import channels
from horae.domain.events.channels import MOST_FILTERS, Subscription
from horae.domain.targets.auth import LONGEST_SECRET_NAME
from horae.service.events.subscriptions import SubscriptionDetail, SubscriptionProgress


class TopicSink(RequestModel):
    """A topic (Kafka, RocketMQ), subject (NATS JetStream) or routing key (RabbitMQ) of a broker of the deployment."""

    kind: Literal["topic"]
    broker: Name
    topic: Annotated[str, Field(pattern=f"^{channels.TOPIC.pattern}$")]


class WebhookSink(RequestModel):
    """A URL that receives batches of events (`application/cloudevents-batch+json`), signed with a named secret."""

    kind: Literal["webhook"]
    url: Text
    signing: Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET_NAME)]


Sink = Annotated[TopicSink | WebhookSink, Field(discriminator="kind")]


def sink_view(sink: channels.Sink) -> TopicSink | WebhookSink:
    """Returns the view of the sink of a subscription or the source of an intake."""
    return show_as(TopicSink, sink) if isinstance(sink, channels.TopicAddress) else show_as(WebhookSink, sink)


EXAMPLE: Final[JsonDict] = {
    "sink": {"kind": "webhook", "url": "https://crm.example.com/events", "signing": "crm-events"},
    "events": ["INSTANCE_*", "TASK_MOVED"],
    "labels": {"team": "crm"},
}


class NewSubscription(RequestModel):
    """The sink of a subscription, with filters on events and on job labels (default: all)."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    sink: Sink
    events: Annotated[list[Name], Field(max_length=MOST_FILTERS)] = []
    labels: Annotated[dict[Name, Text], Field(max_length=MOST_FILTERS)] = {}

    def to_domain(self) -> Subscription:
        """Returns the subscription of the domain."""
        return msgspec.convert(self.model_dump(), Subscription)


class ReplayEvents(RequestModel):
    """The time span of the events to deliver again. The default is the last 15 minutes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"since": "2026-11-15T08:00:00Z"}]})

    since: Moment | None = None
    until: Moment | None = None


class SubscriptionProgressView(ResponseModel):
    """The progress of a subscription: events sent, delivered up to `delivered_until`, and the current error."""

    sent: int
    delivered_until: datetime | None
    error: str | None

    @classmethod
    def of(cls, progress: SubscriptionProgress) -> "SubscriptionProgressView":
        """Returns the view of the progress."""
        return cls(**progress._asdict())


class SubscriptionView(ChannelView):
    """A subscription. Lists leave out `progress`."""

    sink: TopicSink | WebhookSink
    events: list[str]
    labels: dict[str, str]
    progress: SubscriptionProgressView | None = None

    @classmethod
    def of(cls, detail: SubscriptionDetail) -> "SubscriptionView":
        """Returns the view of a subscription."""
        channel, wanted = detail.channel, detail.subscription
        facts = {"sink": sink_view(wanted.sink), "events": list(wanted.events), "labels": wanted.labels}
        progress = None if detail.progress is None else SubscriptionProgressView.of(detail.progress)
        return cls.model_validate({**cls.facts(channel), **facts, "progress": progress})
