"""A receiver in the test's own loop, fast enough for thousands a second: what arrived when, and how many at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import msgspec

LENGTH = b"\r\ncontent-length: "


class Arrival(msgspec.Struct, kw_only=True):
    """One call as the receiver saw it; `at` by the cells' clock, `began` and `ended` by the loop's.

    `address` is which of the receiver's addresses was called.
    """

    job: str
    fire_time: datetime
    attempt: int
    idempotency_key: str
    instance: str
    key: str | None = None
    payload: object = None
    path: str = ""
    address: str = ""
    at: datetime = datetime.min
    began: float = 0.0
    ended: float | None = None
    status: int | None = None

    @property
    def late_ms(self) -> float:
        """From due to delivered."""
        return (self.at - self.fire_time).total_seconds() * 1000


class Catcher:
    """`answer` decides on each arrival: a status, or None to let it hang. Effects count by idempotency key."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self.url = ""
        self.answer: Callable[[Arrival], int | None] = lambda _arrival: 200
        self.takes = 0.0
        self.arrivals: list[Arrival] = []
        self.effects: Counter[str] = Counter()
        self.hanging: list[tuple[Arrival, Callable[[Arrival, int], None]]] = []
        self.visits: set[Visit] = set()

    def of(self, path: str) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.path == path]

    def release(self, status: int = 200) -> None:
        """Answer everything that hangs."""
        hanging, self.hanging = self.hanging, []
        for arrival, reply in hanging:
            reply(arrival, status)

    def arrived(self, path: str, address: str, body: bytes, reply: Callable[[Arrival, int], None]) -> None:
        arrival = msgspec.json.decode(body, type=Arrival)
        arrival.path, arrival.address = path, address
        arrival.at, arrival.began = self.now(), asyncio.get_running_loop().time()
        self.arrivals.append(arrival)
        status = self.answer(arrival)
        if status is None:
            self.hanging.append((arrival, reply))
        elif self.takes:
            asyncio.get_running_loop().call_later(self.takes, reply, arrival, status)
        else:
            reply(arrival, status)


class Visit(asyncio.Protocol):
    """One connection: request after request."""

    def __init__(self, catcher: Catcher) -> None:
        self.catcher = catcher
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.address: str = transport.get_extra_info("sockname")[0]
        self.catcher.visits.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.catcher.visits.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            length = int(head[head.index(LENGTH) + len(LENGTH) :].split(b"\r\n", 1)[0])
            if len(self.buffer) < end + 4 + length:
                return
            path = self.buffer.split(b" ", 2)[1].decode()
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            self.catcher.arrived(path, self.address, body, self.reply)

    def reply(self, arrival: Arrival, status: int) -> None:
        arrival.ended, arrival.status = asyncio.get_running_loop().time(), status
        if status < 300:
            self.catcher.effects[arrival.idempotency_key] += 1
        self.transport.write(b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\nok" % status)


def most_at_once(arrivals: list[Arrival]) -> int:
    """The largest number of calls that were open at the same moment."""
    steps = [(one.began, 1) for one in arrivals] + [(one.ended, -1) for one in arrivals if one.ended is not None]
    most = running = 0
    for _, step in sorted(steps):
        running += step
        most = max(most, running)
    return most


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


@asynccontextmanager
async def catching(now: Callable[[], datetime], host: str = "127.0.0.1") -> AsyncIterator[Catcher]:
    """A receiver on a free port, until the end of the block."""
    catcher = Catcher(now)
    server = await asyncio.get_running_loop().create_server(lambda: Visit(catcher), host, 0, backlog=4096)
    catcher.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield catcher
    finally:
        server.close()
        for visit in list(catcher.visits):  # of a client that was killed inside this process, nobody else ends them
            visit.transport.abort()
        for _ in range(5):  # turns of the loop: the other side hears of it and closes, too
            await asyncio.sleep(0)
