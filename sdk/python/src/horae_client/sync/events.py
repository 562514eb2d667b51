"""Subscriptions, intakes and parked messages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.asked import events as asked
from horae_client.models import Intake, ParkedMessage, Subscription
from horae_client.sync.verbs import Items, Verbs


class Subscriptions(Verbs):
    """The subscriptions: where events about jobs and instances are delivered."""

    def put(
        self, name: str, sink: Mapping[str, Any], *, events: Sequence[str] = (), labels: Mapping[str, str] | None = None
    ) -> Subscription:
        """Create or change a subscription: a webhook or a topic, for some events or all, of jobs with these labels.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook, events=["INSTANCE_DEAD"])
        >>> made.sink["kind"], made.events
        ('webhook', ['INSTANCE_DEAD'])
        """
        return self._ask(asked.put_subscription(name, sink, events, labels))

    def list(self, *, limit: int | None = None) -> Items[Subscription]:
        """List the subscriptions by name.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> [one.name for one in client.subscriptions.list()]
        ['shop']
        """
        return self._pages(asked.subscriptions(), limit)

    def get(self, name: str) -> Subscription:
        """Get a subscription with its progress.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> found = client.subscriptions.get("shop")
        >>> found.progress.sent
        0
        """
        return self._ask(asked.subscription(name))

    def pause(self, name: str) -> Subscription:
        """Pause a subscription. It keeps its position.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> paused = client.subscriptions.pause("shop")
        >>> paused.paused_at is None
        False
        """
        return self._ask(asked.subscription_verb(name, "pause"))

    def resume(self, name: str) -> Subscription:
        """Resume a subscription at its position, as far back as the history is kept.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> paused = client.subscriptions.pause("shop")
        >>> resumed = client.subscriptions.resume("shop")
        >>> resumed.paused_at is None
        True
        """
        return self._ask(asked.subscription_verb(name, "resume"))

    def replay(self, name: str, *, since: datetime | None = None, until: datetime | None = None) -> Subscription:
        """Deliver the events of a time span again, before new events; without one, those of the last 15 minutes.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> replayed = client.subscriptions.replay("shop")
        >>> replayed.name
        'shop'
        """
        return self._ask(asked.replay_events(name, since, until))

    def remove(self, name: str) -> Subscription:
        """Remove a subscription.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = client.subscriptions.put("shop", hook)
        >>> gone = client.subscriptions.remove("shop")
        >>> gone.name
        'shop'
        """
        return self._ask(asked.remove_subscription(name))


class Intakes(Verbs):
    """The intakes: topics from which changes of times are read."""

    def put(self, name: str, source: Mapping[str, Any], *, types: Sequence[str] = ()) -> Intake:
        """Create or change an intake; `types` are the types that its messages may change, all without them.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> made.source["topic"], made.types
        ('schedules', [])
        """
        return self._ask(asked.put_intake(name, source, types))

    def list(self, *, limit: int | None = None) -> Items[Intake]:
        """List the intakes by name.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> [one.name for one in client.intakes.list()]
        ['shop']
        """
        return self._pages(asked.intakes(), limit)

    def get(self, name: str) -> Intake:
        """Get an intake and its position in the topic.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> found = client.intakes.get("shop")
        >>> found.position is None
        True
        """
        return self._ask(asked.intake(name))

    def pause(self, name: str) -> Intake:
        """Pause an intake. New messages stay in the topic.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> paused = client.intakes.pause("shop")
        >>> paused.paused_at is None
        False
        """
        return self._ask(asked.intake_verb(name, "pause"))

    def resume(self, name: str) -> Intake:
        """Resume an intake. It continues with the messages in the topic.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> paused = client.intakes.pause("shop")
        >>> resumed = client.intakes.resume("shop")
        >>> resumed.paused_at is None
        True
        """
        return self._ask(asked.intake_verb(name, "resume"))

    def remove(self, name: str) -> Intake:
        """Remove an intake. The messages in the topic stay there.

        >>> made = client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> gone = client.intakes.remove("shop")
        >>> gone.name
        'shop'
        """
        return self._ask(asked.remove_intake(name))


class ParkedMessages(Verbs):
    """The parked messages: messages of intakes that could not be processed and need a decision."""

    def list(self, *, limit: int | None = None) -> Items[ParkedMessage]:
        """List the parked messages, oldest first.

        >>> [one.reason for one in client.parked_messages.list()]
        []
        """
        return self._pages(asked.parked_messages(), limit)

    def replay(self, message_id: str) -> ParkedMessage:
        """Process a parked message again. If it fails again, it stays parked.

        >>> [client.parked_messages.replay(one.id) for one in client.parked_messages.list()]
        []
        """
        return self._ask(asked.replay_parked(message_id))

    def drop(self, message_id: str) -> ParkedMessage:
        """Drop a parked message.

        >>> [client.parked_messages.drop(one.id) for one in client.parked_messages.list()]
        []
        """
        return self._ask(asked.drop_parked(message_id))
