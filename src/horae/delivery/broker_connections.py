"""Connections to the deployment's brokers: one per broker, shared by all senders."""

import asyncio
from collections.abc import Mapping, Sequence

from horae.delivery.brokers import EventSink, Message, sink_of
from horae.domain.errors import Invalid
from horae.domain.events.channels import Broker, TopicAddress, check_topic
from horae.runtime.settings import BrokerSettings


def broker_rules(settings: Mapping[str, BrokerSettings]) -> dict[str, Broker]:
    """Return the brokers as tenants see them: kind and topic patterns, without addresses."""
    return {name: Broker(one.kind, tuple(one.topics)) for name, one in settings.items()}


class Lines:
    """One open sink for each broker in use."""

    def __init__(self, settings: Mapping[str, BrokerSettings]) -> None:
        self.brokers = broker_rules(settings)
        self._settings = settings
        self._open: dict[str, asyncio.Task[EventSink]] = {}

    async def send(self, tenant: str, topic: TopicAddress, batch: Sequence[Message]) -> None:
        """Send to a topic of this tenant and wait until every message is acknowledged."""
        check_topic(self.brokers, tenant, topic)
        await self.produce(topic, batch)

    async def produce(self, topic: TopicAddress, batch: Sequence[Message]) -> None:
        """Send to a topic that was checked when its job was written."""
        if topic.broker not in self.brokers:
            raise Invalid(f"this deployment has no broker {topic.broker!r}")
        sink = await self._sink(topic.broker)
        await sink.send(topic.topic, batch)

    async def close(self) -> None:
        """Close all connections."""
        opened, self._open = self._open, {}
        for task in opened.values():
            task.cancel()
            sink = (await asyncio.gather(task, return_exceptions=True))[0]
            if not isinstance(sink, BaseException):
                await sink.close()

    async def _sink(self, name: str) -> EventSink:
        """Return the open sink of a broker. Concurrent callers share one opening; a failed opening is repeated."""
        task = self._open.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._open[name] = asyncio.create_task(self._open_sink(name))
        return await asyncio.shield(task)

    async def _open_sink(self, name: str) -> EventSink:
        sink = sink_of(self._settings[name])
        await sink.open()
        return sink
