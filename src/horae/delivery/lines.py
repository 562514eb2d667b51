"""Connections to the deployment's brokers: one for each that is used, whoever sends by it."""

import asyncio
from collections.abc import Mapping, Sequence

from horae.delivery.brokers import EventSink, Message, sink_of
from horae.domain.channels import Broker, Topic, check_topic
from horae.domain.errors import Invalid
from horae.runtime.settings import BrokerSettings


def known(settings: Mapping[str, BrokerSettings]) -> dict[str, Broker]:
    """The brokers as tenants may know them."""
    return {name: Broker(one.kind, tuple(one.topics)) for name, one in settings.items()}


class Lines:
    """One open sink for each broker that is used."""

    def __init__(self, settings: Mapping[str, BrokerSettings]) -> None:
        self.brokers = known(settings)
        self._settings = settings
        self._open: dict[str, asyncio.Task[EventSink]] = {}

    async def send(self, tenant: str, topic: Topic, batch: Sequence[Message]) -> None:
        """Send to a topic that is this tenant's, and wait until all is acknowledged."""
        check_topic(self.brokers, tenant, topic)
        await self.produce(topic, batch)

    async def produce(self, topic: Topic, batch: Sequence[Message]) -> None:
        """The same for a topic that was judged when its job was written."""
        if topic.broker not in self.brokers:
            raise Invalid(f"this deployment has no broker {topic.broker!r}")
        sink = await self._sink(topic.broker)
        await sink.send(topic.topic, batch)

    async def close(self) -> None:
        """Let go of all connections."""
        opened, self._open = self._open, {}
        for task in opened.values():
            task.cancel()
            sink = (await asyncio.gather(task, return_exceptions=True))[0]
            if not isinstance(sink, BaseException):
                await sink.close()

    async def _sink(self, name: str) -> EventSink:
        task = self._open.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._open[name] = asyncio.create_task(self._opened(name))
        return await asyncio.shield(task)

    async def _opened(self, name: str) -> EventSink:
        sink = sink_of(self._settings[name])
        await sink.open()
        return sink
