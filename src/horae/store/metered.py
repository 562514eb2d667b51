"""An event loop for the driver that limits how many bytes a foreign server may send.

The driver keeps a message in memory until it is complete, and a message may announce a length of a gigabyte. This loop
counts the bytes before the driver sees them, from the first byte of the login on, with and without TLS. Past the limit
it aborts the connection.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class ByteMeter:
    """Counts the bytes since the last `reset`. `exceeded` becomes true when they are more than `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0
        self.exceeded = False

    def reset(self) -> None:
        """Start counting from zero, for the next request."""
        self.count = 0

    def add(self, count: int) -> bool:
        """Count bytes; returns whether they may be read."""
        self.count += count
        self.exceeded = self.exceeded or self.count > self.most
        return not self.exceeded


class MeteredLoop:
    """The running loop. Its connections count the bytes that they receive."""

    def __init__(self, meter: ByteMeter) -> None:
        self._loop = asyncio.get_running_loop()
        self._meter = meter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def create_connection(self, factory: Callable[[], Any], *args: Any, **facts: Any) -> tuple[Any, Any]:
        """A connection whose protocol is metered."""
        transport, metered = await self._loop.create_connection(
            lambda: _MeteredProtocol(factory(), self._meter), *args, **facts
        )
        return transport, metered.inner

    async def start_tls(self, *args: Any, **facts: Any) -> Any:
        """A TLS transport that meters its protocol."""
        made = await self._loop.start_tls(*args, **facts)
        return None if made is None else _MeteredTransport(made, self._meter)


class _MeteredProtocol(asyncio.Protocol):
    """Passes data on while the meter allows it, and aborts the connection otherwise."""

    def __init__(self, inner: Any, meter: ByteMeter) -> None:
        self.inner = inner
        self._meter = meter
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._meter.add(len(data)):
            self.inner.data_received(data)
        else:
            self._transport.abort()

    def eof_received(self) -> bool | None:
        found: bool | None = self.inner.eof_received()
        return found

    def connection_lost(self, exc: Exception | None) -> None:
        self.inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self.inner.resume_writing()


class _MeteredTransport:
    """A transport whose protocol is metered."""

    def __init__(self, transport: Any, meter: ByteMeter) -> None:
        self._transport = transport
        self._meter = meter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def set_protocol(self, protocol: Any) -> None:
        """Set a protocol that already knows its connection."""
        metered = _MeteredProtocol(protocol, self._meter)
        metered._transport = self._transport
        self._transport.set_protocol(metered)
