"""A session with the proxies of RocketMQ 5: one channel of gRPC, its signed calls, and what an answer means.

Only the messages and stubs of the library `rocketmq-python-client` are used, on the caller's event loop. Its `Producer`
and `SimpleConsumer` have threads of their own, acknowledge one message a call, and do not wait until the proxy knows
them; decision 90 has what was seen.
"""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from hmac import digest
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple
from uuid import uuid4

import grpc

from horae.domain.errors import Invalid, Unavailable
from horae.runtime.settings import BrokerSettings


def _library() -> ModuleType:
    """Import the messages and stubs.

    The package's own log module makes a folder in the user's home and writes up to 1.1 GB into it. A module of the same
    name is put in its place before the package is imported.
    """
    quiet: Any = ModuleType("rocketmq.v5.log")
    quiet.logger = logging.getLogger("rocketmq")
    sys.modules.setdefault(quiet.__name__, quiet)
    return import_module("rocketmq.grpc_protocol")


PROTOCOL: Final[Any] = _library()
Code: Final[Any] = PROTOCOL.Code
ANSWER_TIMEOUT_S: Final = 5.0
"""Seconds within which a proxy must answer, other than to a message or to a poll."""
RECONNECT_MS: Final = 100, 1000
"""Shortest and longest pause before a lost connection is opened again."""
MAX_ANSWER_BYTES: Final = 64 << 20
"""Size of one answer: a batch of messages, each of up to 4 MiB."""
NO_SUCH_TOPIC: Final = "RocketMQ has no topic {!r}, or its broker is away"
OPTIONS: Final = frozenset({"access_key", "secret_key", "namespace", "tls", "ca_file"})
"""What the `options` of a deployment may name."""
VERSION: Final = "5.1.2"
"""The version of the client whose protocol this is; the proxy asks for one."""


class Route(NamedTuple):
    """Where a topic is: a queue of each broker that may be read, and whether messages of a group keep their order."""

    readable: tuple[Any, ...]
    fifo: bool


class ProxySession:
    """One channel to the proxies of a deployment. gRPC opens lost connections again by itself."""

    def __init__(self, settings: BrokerSettings) -> None:
        unknown = settings.options.keys() - OPTIONS
        if unknown:
            raise Invalid(f"options of RocketMQ are {', '.join(sorted(OPTIONS))}, not {', '.join(sorted(unknown))}")
        self._options, self._hosts = settings.options, settings.url.split(",")
        self._client = f"horae@{uuid4().hex}"
        self._channel: Any = None
        self._stub: Any = None

    async def open(self) -> None:
        """Open the channel. Raises `Unavailable` where no proxy answers."""
        low, high = RECONNECT_MS
        options = [
            ("grpc.initial_reconnect_backoff_ms", low), ("grpc.min_reconnect_backoff_ms", low),
            ("grpc.max_reconnect_backoff_ms", high), ("grpc.enable_retries", 0),
            ("grpc.max_receive_message_length", MAX_ANSWER_BYTES), ("grpc.use_local_subchannel_pool", 1),
            ("grpc.keepalive_time_ms", 30_000), ("grpc.enable_http_proxy", 0),
        ]  # fmt: skip
        target = _target(self._hosts)
        if self._options.get("tls") == "true":
            self._channel = grpc.aio.secure_channel(target, await asyncio.to_thread(self._credentials), options=options)
        else:
            self._channel = grpc.aio.insecure_channel(target, options=options)
        self._stub = PROTOCOL.MessagingServiceStub(self._channel)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await self._channel.channel_ready()
        except TimeoutError as error:
            await self.close()
            raise Unavailable("RocketMQ's proxy is not reached") from error

    @property
    def is_open(self) -> bool:
        """Whether `open` was called, and `close` was not."""
        return self._channel is not None

    async def close(self) -> None:
        """Close the channel; calls that wait are cancelled."""
        channel, self._channel, self._stub = self._channel, None, None
        if channel is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    await channel.close()

    async def call(self, verb: str, request: Any, seconds: float = ANSWER_TIMEOUT_S) -> Any:
        """Ask for one answer. Raises `Unavailable` where none comes, or one that says that the proxy cannot now."""
        if self._stub is None:
            raise Unavailable("the connection to RocketMQ is closed")
        try:
            return await getattr(self._stub, verb)(request, metadata=self._metadata(), timeout=seconds)
        except (grpc.RpcError, grpc.aio.UsageError) as error:
            raise Unavailable(f"RocketMQ's proxy is away: {_reason(error)}") from error

    async def stream(self, verb: str, request: Any, seconds: float | None = None) -> AsyncGenerator[Any, None]:
        """Ask for a stream of answers. `request` may be a stream too."""
        if self._stub is None:
            raise Unavailable("the connection to RocketMQ is closed")
        answers = getattr(self._stub, verb)(request, metadata=self._metadata(), timeout=seconds)
        try:
            async for answer in answers:
                yield answer
        except (grpc.RpcError, grpc.aio.UsageError) as error:
            raise Unavailable(f"RocketMQ's proxy is away: {_reason(error)}") from error
        finally:
            answers.cancel()

    async def receive(self, request: Any, seconds: float) -> list[Any]:
        """Poll for messages; an empty list when none came."""
        found, status = [], None
        async with aclosing(self.stream("ReceiveMessage", request, seconds)) as answers:
            async for answer in answers:
                if answer.HasField("message"):
                    found.append(answer.message)
                elif answer.HasField("status"):
                    status = answer.status
        if not found and status is not None and status.code not in (Code.OK, Code.MESSAGE_NOT_FOUND):
            raise Unavailable(f"RocketMQ: {explain(status)}")
        return found

    async def route(self, topic: str) -> Route:
        """Ask where a topic is. Raises `Unavailable` where it is not there, as while its broker is away."""
        request = PROTOCOL.QueryRouteRequest(topic=self.resource(topic), endpoints=self._endpoints())
        answer = await self.call("QueryRoute", request)
        if answer.status.code != Code.OK or not answer.message_queues:
            raise Unavailable(f"{NO_SUCH_TOPIC.format(topic)} ({explain(answer.status)})")
        queues = answer.message_queues
        if len({queue.broker.endpoints.SerializeToString() for queue in queues}) > 1:
            raise Unavailable("these proxies serve their own brokers only; RocketMQ's proxies must be in cluster mode")
        readable = {
            queue.broker.name: queue
            for queue in queues
            if queue.permission in (PROTOCOL.Permission.READ, PROTOCOL.Permission.READ_WRITE)
        }
        return Route(
            tuple(readable.values()), all(PROTOCOL.MessageType.FIFO in one.accept_message_types for one in queues)
        )

    def resource(self, name: str) -> Any:
        """Return a topic or a group in the deployment's namespace."""
        return PROTOCOL.Resource(resource_namespace=self._options.get("namespace", ""), name=name)

    def _endpoints(self) -> Any:
        pairs = [host.rpartition(":") for host in self._hosts]
        addresses = [PROTOCOL.Address(host=host, port=int(port)) for host, _, port in pairs]
        return PROTOCOL.Endpoints(scheme=PROTOCOL.AddressScheme.DOMAIN_NAME, addresses=addresses)

    def _metadata(self) -> list[tuple[str, str]]:
        """Return the headers of a call: who asks, and a signature where the deployment has keys."""
        at = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        facts = [
            ("x-mq-language", "PYTHON"), ("x-mq-protocol", "GRPC_V2"), ("x-mq-client-version", VERSION),
            ("x-mq-date-time", at), ("x-mq-request-id", uuid4().hex), ("x-mq-client-id", self._client),
            ("x-mq-namespace", self._options.get("namespace", "")),
        ]  # fmt: skip
        key = self._options.get("access_key")
        if key is not None:
            # RocketMQ knows no other digest than HMAC-SHA1; nothing of ours is protected by it.
            signature = digest(self._options.get("secret_key", "").encode(), at.encode(), "sha1").hex()  # nosemgrep
            parts = f"Credential={key}, SignedHeaders=x-mq-date-time, Signature={signature}"
            facts.append(("authorization", f"MQv2-HMAC-SHA1 {parts}"))
        return facts

    def _credentials(self) -> Any:
        """Return what a proxy's certificate is judged by: `ca_file`, else the authorities that gRPC brings along."""
        file = self._options.get("ca_file")
        return grpc.ssl_channel_credentials(None if file is None else Path(file).read_bytes())


def _target(hosts: Sequence[str]) -> str:
    """Return the hosts as gRPC names them. Several are addresses, which it tries in turn."""
    for host in hosts:
        if not host.rpartition(":")[2].isdigit():
            raise Invalid("the url of RocketMQ is host:port of its proxy, or several addresses with commas")
    return f"dns:///{hosts[0]}" if len(hosts) == 1 else f"ipv4:{','.join(hosts)}"


def _reason(error: Exception) -> str:
    return f"{error.code().name}: {error.details()}" if isinstance(error, grpc.aio.AioRpcError) else repr(error)


def explain(status: Any) -> str:
    """Return the code and the message of a status, as RocketMQ names it."""
    name = Code.Name(status.code) if status.code in Code.values() else status.code
    return f"{name}: {status.message[:300]}"
