"""RocketMQ 5 as a source, through its proxy: a consumer of a group that polls ahead and acknowledges each message.

1. The proxy learns of the consumer by a stream of settings, and answers to it. A poll before that answer is refused.
2. A poll waits for at least five seconds at the proxy, so polls run ahead of `take`.
3. A message that was given out comes again after `INVISIBLE_S` unless acknowledged. `close` gives it back.
4. `close` lets polls end: to one that was cancelled, the broker gives messages all the same, which nobody then has.
5. The first failure of a stream or of a poll ends the source: `take` raises it, and the caller opens another.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

from horae.delivery.brokers import BrokerMessage
from horae.delivery.brokers.rocketmq_proxy import ANSWER_TIMEOUT_S, PROTOCOL, Code, ProxySession, explain
from horae.domain.errors import Unavailable
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.settings import BrokerSettings

INVISIBLE_S: Final = 30
"""Seconds after which the broker gives a message out again that was not acknowledged."""
GIVE_BACK_S: Final = 1
"""Seconds after which it does so for a message that was given back."""
POLL_S: Final = 5
"""Seconds that a poll waits at the proxy: the shortest time that it allows."""
POLLS_AT_ONCE: Final = 4
"""Polls of one broker at the same time, as long as they come back full; else one."""
MESSAGES_OF_POLL: Final = 32
"""The broker's limit for one poll."""
PREFETCH: Final = 1000
"""Messages that wait here at most."""
HEARTBEAT_S: Final = 10.0
"""Seconds between two signs of life. Without them the proxy forgets the consumer."""
ACKS_OF_CALL: Final = 500
"""Messages that one call acknowledges."""
GIVEN_BACK_AT_ONCE: Final = 100
"""Calls that give a message back at the same time."""
BATCH_CHECK_INTERVAL_S: Final = 0.02
"""Seconds between two looks for more messages of a batch."""
MAX_BATCH_WAIT_S: Final = 0.3
"""Seconds for which a batch waits for more messages, as long as some arrive in every `BATCH_CHECK_INTERVAL_S`."""


class RocketConsumer:
    """A consumer of a group. Consumers of one group share its messages."""

    def __init__(self, settings: BrokerSettings, topic: str, group: str) -> None:
        self._session = ProxySession(settings)
        self._topic, self._group = topic, group
        self._tasks: list[asyncio.Task[None]] = []
        self._polls: list[asyncio.Task[None]] = []
        self._came: deque[Any] = deque()
        self._news, self._room, self._known = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._busy, self._ending = asyncio.Event(), False
        self._held: dict[str, Any] = {}
        self._failure: Unavailable | None = None

    async def open(self) -> None:
        """Connect, wait until the proxy knows this consumer, and begin to poll."""
        await self._session.open()
        route = await self._session.route(self._topic)
        self._tasks = [self._start(self._keep_settings())]
        await self._await_known()
        await self._heartbeat()
        self._tasks.append(self._start(self._keep_alive()))
        self._room.set()
        self._polls = [
            self._start(self._poll(queue, steady=n == 0)) for queue in route.readable for n in range(POLLS_AT_ONCE)
        ]

    async def take(self, limit: int, seconds: float) -> list[BrokerMessage]:
        """Return up to `limit` messages; an empty list when none came within `seconds`."""
        self._news.clear()
        if not self._came and self._failure is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        await self._gather(limit)
        if self._failure is not None:  # `close` gives back what came meanwhile
            raise self._failure
        found = [self._came.popleft() for _ in range(min(limit, len(self._came)))]
        self._room.set()
        return [BrokerMessage(one.body, f"{self._topic}/{one.system_properties.message_id}", one) for one in found]

    async def acknowledge(self, batch: Sequence[BrokerMessage]) -> None:
        """Acknowledge messages, so that the broker does not deliver them again."""
        for first in range(0, len(batch), ACKS_OF_CALL):
            await self._acknowledge([one.handle for one in batch[first : first + ACKS_OF_CALL]])

    async def backlog(self) -> int | None:
        """Return None: the protocol has no question for it."""
        return None

    async def close(self) -> None:
        """Wait for the last polls, give unacknowledged messages back, and close the channel."""
        try:
            await self._end_polls()
            if self._session.is_open:
                await self._give_all_back()
        finally:
            tasks, self._tasks, self._polls = [*self._polls, *self._tasks], [], []
            await cancel_and_wait(*tasks)
            await self._session.close()

    async def _end_polls(self) -> None:
        self._ending = True
        for event in (self._room, self._busy):
            event.set()
        if self._polls and self._failure is None:
            await asyncio.wait(self._polls, timeout=POLL_S + 1)

    async def _give_all_back(self) -> None:
        """Give messages back and say goodbye, as far as there is time: without it, they come again later."""
        held, self._held = list(self._held.values()), {}
        self._came.clear()
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                for first in range(0, len(held), GIVEN_BACK_AT_ONCE):
                    await asyncio.gather(*(self._give_back(one) for one in held[first : first + GIVEN_BACK_AT_ONCE]))
                request = PROTOCOL.NotifyClientTerminationRequest(group=self._group_resource)
                await self._session.call("NotifyClientTermination", request)

    @property
    def _group_resource(self) -> Any:
        return self._session.resource(self._group)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.create_task(self._until_failure(work))

    async def _until_failure(self, work: Coroutine[Any, Any, None]) -> None:
        """Do a part of the work; its end is the end of this source."""
        try:
            await work
            failure = None if self._ending else Unavailable("RocketMQ's proxy ended the session")
        except Unavailable as error:
            failure = error
        self._failure = self._failure or failure
        for event in (self._news, self._known):
            event.set()

    async def _await_known(self) -> None:
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await self._known.wait()
        except TimeoutError as error:
            raise Unavailable("RocketMQ's proxy does not answer to the settings of a consumer") from error
        if self._failure is not None:
            raise self._failure

    async def _keep_settings(self) -> None:
        """Tell the proxy of this consumer, and keep the stream on which it answers."""
        async with aclosing(self._session.stream("Telemetry", self._settings())) as answers:
            async for answer in answers:
                if answer.HasField("settings"):
                    self._known.set()

    async def _settings(self) -> AsyncIterator[Any]:
        """Yield the settings of this consumer, and keep the stream open."""
        command = PROTOCOL.TelemetryCommand()
        settings = command.settings
        settings.client_type = PROTOCOL.ClientType.SIMPLE_CONSUMER
        settings.request_timeout.seconds = round(ANSWER_TIMEOUT_S)
        settings.subscription.group.CopyFrom(self._group_resource)
        entry = settings.subscription.subscriptions.add(topic=self._session.resource(self._topic))
        entry.expression.type, entry.expression.expression = PROTOCOL.FilterType.TAG, "*"
        settings.user_agent.language = PROTOCOL.Language.PYTHON
        yield command
        await asyncio.Future()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._heartbeat()

    async def _heartbeat(self) -> None:
        request = PROTOCOL.HeartbeatRequest(group=self._group_resource, client_type=PROTOCOL.ClientType.SIMPLE_CONSUMER)
        answer = await self._session.call("Heartbeat", request)
        if answer.status.code != Code.OK:
            raise Unavailable(f"RocketMQ: {explain(answer.status)}")

    async def _poll(self, queue: Any, *, steady: bool) -> None:
        """Poll one broker until the end, as long as there is room; one that is not steady, as long as it is busy."""
        request = PROTOCOL.ReceiveMessageRequest(
            group=self._group_resource, message_queue=queue, batch_size=MESSAGES_OF_POLL, auto_renew=False
        )
        request.filter_expression.type, request.filter_expression.expression = PROTOCOL.FilterType.TAG, "*"
        request.invisible_duration.seconds, request.long_polling_timeout.seconds = INVISIBLE_S, POLL_S
        while not self._ending:
            await self._room.wait()
            if not steady:
                await self._busy.wait()
            if self._ending:
                return
            found = await self._session.receive(request, POLL_S + ANSWER_TIMEOUT_S)
            self._held.update((one.system_properties.receipt_handle, one) for one in found)
            self._came += found
            if len(self._came) >= PREFETCH:
                self._room.clear()
            if found:
                self._news.set()
            self._busy.set() if len(found) == MESSAGES_OF_POLL or self._ending else self._busy.clear()

    async def _gather(self, limit: int) -> None:
        """Wait for messages that follow at once: every batch costs a transaction."""
        loop, seen = asyncio.get_running_loop(), 0
        until = loop.time() + MAX_BATCH_WAIT_S
        while seen < len(self._came) < limit and loop.time() < until:
            seen = len(self._came)
            await asyncio.sleep(BATCH_CHECK_INTERVAL_S)

    async def _acknowledge(self, messages: Sequence[Any]) -> None:
        """Acknowledge messages by one call. A handle that has run out is no failure: its message comes again."""
        request = PROTOCOL.AckMessageRequest(group=self._group_resource, topic=self._session.resource(self._topic))
        for one in messages:
            system = one.system_properties
            request.entries.add(message_id=system.message_id, receipt_handle=system.receipt_handle)
        answer = await self._session.call("AckMessage", request)
        statuses = [entry.status for entry in answer.entries] or [answer.status]
        failed = next((one for one in statuses if one.code not in (Code.OK, Code.INVALID_RECEIPT_HANDLE)), None)
        if failed is not None:
            raise Unavailable(f"RocketMQ did not take an acknowledgement: {explain(failed)}")
        for one in messages:
            self._held.pop(one.system_properties.receipt_handle, None)

    async def _give_back(self, message: Any) -> None:
        system = message.system_properties
        request = PROTOCOL.ChangeInvisibleDurationRequest(
            group=self._group_resource,
            topic=self._session.resource(self._topic),
            receipt_handle=system.receipt_handle,
            message_id=system.message_id,
        )
        request.invisible_duration.seconds = GIVE_BACK_S
        await self._session.call("ChangeInvisibleDuration", request)
