"""Subscriptions, intakes and parked messages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import events as asked
from horae_client.models import Intake, ParkedMessage, Subscription


class AsyncSubscriptions(AsyncVerbs):
    """The subscriptions: where events about jobs and instances are delivered."""

    async def put(
        self, name: str, sink: Mapping[str, Any], *, events: Sequence[str] = (), labels: Mapping[str, str] | None = None
    ) -> Subscription:
        """Create or change a subscription: a webhook or a topic, for some events or all, of jobs with these labels.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook, events=["INSTANCE_DEAD"])
        >>> made.sink["kind"], made.events
        ('webhook', ['INSTANCE_DEAD'])
        """
        return await self._ask(asked.put_subscription(name, sink, events, labels))

    def list(self, *, limit: int | None = None) -> AsyncItems[Subscription]:
        """List the subscriptions by name.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> [one.name async for one in client.subscriptions.list()]
        ['shop']
        """
        return self._pages(asked.subscriptions(), limit)

    async def get(self, name: str) -> Subscription:
        """Get a subscription with its progress.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> found = await client.subscriptions.get("shop")
        >>> found.progress.sent
        0
        """
        return await self._ask(asked.subscription(name))

    async def pause(self, name: str) -> Subscription:
        """Pause a subscription. It keeps its position.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> paused = await client.subscriptions.pause("shop")
        >>> paused.paused_at is None
        False
        """
        return await self._ask(asked.subscription_verb(name, "pause"))

    async def resume(self, name: str) -> Subscription:
        """Resume a subscription at its position, as far back as the history is kept.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> paused = await client.subscriptions.pause("shop")
        >>> resumed = await client.subscriptions.resume("shop")
        >>> resumed.paused_at is None
        True
        """
        return await self._ask(asked.subscription_verb(name, "resume"))

    async def replay(self, name: str, *, since: datetime | None = None, until: datetime | None = None) -> Subscription:
        """Deliver the events of a time span again, before new events; without one, those of the last 15 minutes.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> replayed = await client.subscriptions.replay("shop")
        >>> replayed.name
        'shop'
        """
        return await self._ask(asked.replay_events(name, since, until))

    async def remove(self, name: str) -> Subscription:
        """Remove a subscription.

        >>> hook = {"kind": "webhook", "url": "https://shop.example.com/events", "signing": "hook-key"}
        >>> made = await client.subscriptions.put("shop", hook)
        >>> gone = await client.subscriptions.remove("shop")
        >>> gone.name
        'shop'
        """
        return await self._ask(asked.remove_subscription(name))


class AsyncIntakes(AsyncVerbs):
    """The intakes: topics from which changes of times are read."""

    async def put(self, name: str, source: Mapping[str, Any], *, types: Sequence[str] = ()) -> Intake:
        """Create or change an intake; `types` are the types that its messages may change, all without them.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> made.source["topic"], made.types
        ('schedules', [])
        """
        return await self._ask(asked.put_intake(name, source, types))

    def list(self, *, limit: int | None = None) -> AsyncItems[Intake]:
        """List the intakes by name.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> [one.name async for one in client.intakes.list()]
        ['shop']
        """
        return self._pages(asked.intakes(), limit)

    async def get(self, name: str) -> Intake:
        """Get an intake and its position in the topic.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> found = await client.intakes.get("shop")
        >>> found.position is None
        True
        """
        return await self._ask(asked.intake(name))

    async def pause(self, name: str) -> Intake:
        """Pause an intake. New messages stay in the topic.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> paused = await client.intakes.pause("shop")
        >>> paused.paused_at is None
        False
        """
        return await self._ask(asked.intake_verb(name, "pause"))

    async def resume(self, name: str) -> Intake:
        """Resume an intake. It continues with the messages in the topic.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> paused = await client.intakes.pause("shop")
        >>> resumed = await client.intakes.resume("shop")
        >>> resumed.paused_at is None
        True
        """
        return await self._ask(asked.intake_verb(name, "resume"))

    async def remove(self, name: str) -> Intake:
        """Remove an intake. The messages in the topic stay there.

        >>> made = await client.intakes.put("shop", {"kind": "topic", "broker": "events", "topic": "schedules"})
        >>> gone = await client.intakes.remove("shop")
        >>> gone.name
        'shop'
        """
        return await self._ask(asked.remove_intake(name))


class AsyncParkedMessages(AsyncVerbs):
    """The parked messages: messages of intakes that could not be processed and need a decision."""

    def list(self, *, limit: int | None = None) -> AsyncItems[ParkedMessage]:
        """List the parked messages, oldest first.

        >>> [one.reason async for one in client.parked_messages.list()]
        []
        """
        return self._pages(asked.parked_messages(), limit)

    async def replay(self, message_id: str) -> ParkedMessage:
        """Process a parked message again. If it fails again, it stays parked.

        >>> [client.parked_messages.replay(one.id) async for one in client.parked_messages.list()]
        []
        """
        return await self._ask(asked.replay_parked(message_id))

    async def drop(self, message_id: str) -> ParkedMessage:
        """Drop a parked message.

        >>> [client.parked_messages.drop(one.id) async for one in client.parked_messages.list()]
        []
        """
        return await self._ask(asked.drop_parked(message_id))
