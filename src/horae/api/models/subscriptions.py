"""Subscriptions as they are put and shown."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from horae.api.models.base import Moment, Name, Shown, Text, Told
from horae.api.models.showing import show_as
from horae.domain import channels
from horae.domain.channels import MOST_FILTERS, Subscription
from horae.service.subscriptions import Progress, Standing

TOPIC = "^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$"


class TopicSink(Told):
    """A topic (Kafka), subject (NATS JetStream) or routing key (RabbitMQ) of one of the deployment's brokers."""

    kind: Literal["topic"]
    broker: Name
    topic: Annotated[str, Field(pattern=TOPIC)]


class WebhookSink(Told):
    """A URL that is posted batches of events (`application/cloudevents-batch+json`), signed with a named secret."""

    kind: Literal["webhook"]
    url: Text
    signing: Annotated[str, Field(min_length=1, max_length=100)]


Sink = Annotated[TopicSink | WebhookSink, Field(discriminator="kind")]


def shown_sink(sink: channels.Sink) -> TopicSink | WebhookSink:
    """Where a subscription or an intake leads, as it is shown."""
    return show_as(TopicSink, sink) if isinstance(sink, channels.Topic) else show_as(WebhookSink, sink)


EXAMPLE: Final[JsonDict] = {
    "sink": {"kind": "webhook", "url": "https://crm.example.com/events", "signing": "crm-events"},
    "events": ["INSTANCE_*", "TASK_MOVED"],
    "labels": {"team": "crm"},
}


class NewSubscription(Told):
    """Where to tell, of which events (all), of jobs with which labels (all)."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    sink: Sink
    events: Annotated[list[Name], Field(max_length=MOST_FILTERS)] = []
    labels: Annotated[dict[Name, Text], Field(max_length=MOST_FILTERS)] = {}

    def wanted(self) -> Subscription:
        """As the house knows it."""
        return msgspec.convert(self.model_dump(), Subscription)


class ReplaySpan(Told):
    """From when to when; from 15 minutes ago to now where nothing is said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"since": "2026-11-15T08:00:00Z"}]})

    since: Moment | None = None
    until: Moment | None = None


class ProgressView(Shown):
    """How many events were told, by when everything had been, and what is wrong now."""

    sent: int
    told_until: datetime | None
    error: str | None

    @classmethod
    def of(cls, progress: Progress) -> "ProgressView":
        """As it is shown."""
        return cls(**progress._asdict())


class SubscriptionView(Shown):
    """A subscription; `progress` only where one is asked for by its name."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    paused_at: datetime | None
    sink: TopicSink | WebhookSink
    events: list[str]
    labels: dict[str, str]
    progress: ProgressView | None = None

    @classmethod
    def of(cls, standing: Standing) -> "SubscriptionView":
        """A subscription as it is shown."""
        channel, wanted = standing.channel, standing.subscription
        told = {"name": channel.name, "version": channel.version, "changed_by": channel.changed_by}
        times = {"created_at": channel.created_at, "changed_at": channel.changed_at, "paused_at": channel.paused_at}
        facts = {"sink": shown_sink(wanted.sink), "events": list(wanted.events), "labels": wanted.labels}
        progress = None if standing.progress is None else ProgressView.of(standing.progress)
        return cls.model_validate({**told, **times, **facts, "progress": progress})
