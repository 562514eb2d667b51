"""One proxied connection: the client's side, the server's, and what the weather does to the bytes in between."""

import asyncio
import random
import socket
import struct
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from tests.system.wire import Conversation

TICK = 0.02
"""Seconds between two drops of a trickle."""


@dataclass
class Weather:
    """What happens on the way, now. Changed at run time; every connection looks at the same one."""

    silent: bool = False
    refusing: bool = False
    latency: float = 0.0
    trickle: int = 0
    lose: int = 0


@dataclass
class Tally:
    """What has happened so far."""

    made: int = 0
    lost_replies: int = 0


class Flow:
    """Bytes on their way to one side: late, or in drops, but in their order."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._to: asyncio.Transport | None = None
        self._last = False

    def send(self, to: asyncio.Transport, data: bytes) -> None:
        if not self._waiting and not self._weather.latency and not self._weather.trickle:
            to.write(data)
            return
        loop, self._to = asyncio.get_running_loop(), to
        self._waiting.append((loop.time() + self._weather.latency, data))
        if len(self._waiting) == 1:
            loop.call_later(self._weather.latency, self._deliver)

    def end(self, to: asyncio.Transport) -> None:
        """Close behind what is still on its way."""
        self._last = True
        if not self._waiting:
            to.close()

    def stop(self) -> None:
        """Nothing of it arrives any more."""
        self._waiting.clear()

    def _deliver(self) -> None:
        if self._to.is_closing():
            self._waiting.clear()
            return
        loop = asyncio.get_running_loop()
        now, drop = loop.time() + 0.001, max(int(self._weather.trickle * TICK), 1)
        while self._waiting and self._waiting[0][0] <= now:
            _, data = self._waiting.popleft()
            if self._weather.trickle and len(data) > drop:
                self._waiting.appendleft((now - 0.001 + TICK, data[drop:]))
                data = data[:drop]
            self._to.write(data)
        if self._waiting:
            loop.call_later(max(self._waiting[0][0] - loop.time(), 0.001), self._deliver)
        elif self._last:
            self._to.close()


class Side(asyncio.Protocol):
    """One end of a link. A full buffer on the one holds the other back."""

    def __init__(self, link: "Link") -> None:
        self.link = link
        self.transport: asyncio.Transport | None = None
        self.other: Side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.link.made(self)

    def data_received(self, data: bytes) -> None:
        self.link.arrived(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.link.lost(self)

    def pause_writing(self) -> None:
        if self.other.transport is not None and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other.transport is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def abort(self, *, rudely: bool = False) -> None:
        """End at once; rudely: with a reset instead of a farewell."""
        if self.transport is None or self.transport.is_closing():
            return
        if rudely:
            with suppress(OSError):
                own = self.transport.get_extra_info("socket")
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


class Link:
    """A client's connection and its continuation. A dead one swallows all and says nothing, not even goodbye."""

    def __init__(
        self, to: tuple[str, int], weather: Weather, tally: Tally, chance: random.Random, links: "set[Link]"
    ) -> None:
        self.weather = weather
        self.dead = False
        self._to = to
        self._tally = tally
        self._chance = chance
        self._links = links
        self._overheard = Conversation()
        self.client, self.server = Side(self), Side(self)
        self.client.other, self.server.other = self.server, self.client
        self._flows = {self.client: Flow(weather), self.server: Flow(weather)}
        self._dialling: asyncio.Task[None] | None = None
        self._early = b""

    def made(self, side: Side) -> None:
        if side is self.server:
            return
        self._links.add(self)
        self._tally.made += 1
        if self.weather.refusing:
            side.abort(rudely=True)
        elif self.weather.silent:
            self.die()
        else:
            self._dialling = asyncio.get_running_loop().create_task(self._dial())

    def arrived(self, side: Side, data: bytes) -> None:
        if self.dead:
            return
        if side.other.transport is None:
            self._early += data
            return
        if side is self.client:
            self._overheard.said(data)
        elif self._overheard.answered(data) and self.weather.lose and not self._chance.randrange(self.weather.lose):
            self._tally.lost_replies += 1
            self.reset()
            return
        self._flows[side.other].send(side.other.transport, data)

    def lost(self, side: Side) -> None:
        """The end of one side is the end of the other, unless nothing gets through any more."""
        other = side.other.transport
        if other is None or other.is_closing():
            self._links.discard(self)
        elif not self.dead:
            self._flows[side.other].end(other)
        elif side is self.client and not self.weather.silent:
            self.reset()

    def die(self) -> None:
        """From now on nothing gets through, in either direction, for ever."""
        self.dead = True
        for flow in self._flows.values():
            flow.stop()

    def bury(self) -> None:
        """The network is back: the server hears of clients that went away meanwhile."""
        if self.dead and self.client.transport.is_closing():
            self.reset()

    def reset(self) -> None:
        self._links.discard(self)
        for side in (self.client, self.server):
            self._flows[side].stop()
            side.abort(rudely=True)

    async def _dial(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self.server, *self._to)
        except OSError:
            self.client.abort(rudely=True)
            return
        if self.client.transport.is_closing() and not self.dead:
            self.server.abort()
        elif self._early:
            self.arrived(self.client, self._early)
