"""A real socket server whose behaviour is a function: it may say anything, or nothing."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from horae.delivery.http import HttpRequest, build_request, parse_url
from horae.delivery.tls import Identity

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Behaviour = Callable[["Visit"], Awaitable[None]]


class Visit:
    """One connection as the server sees it."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self.reader = reader
        self.writer = writer

    async def heard(self) -> bytes:
        """One whole request; empty at the end of the connection."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""
        [length] = [int(line[16:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length: ")]
        return head + await self.reader.readexactly(length)

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class Server:
    """Where it listens, what it heard, and how many connections were made and are open."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[bytes] = []
        self.visits = 0
        self.open = 0
        self.changed = asyncio.Condition()

    async def until(self, true: Callable[["Server"], bool]) -> None:
        async with self.changed, asyncio.timeout(30):
            await self.changed.wait_for(lambda: true(self))

    async def tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def request(self, path: str = "/", *, read_timeout: float = 2.0, identity: Identity | None = None) -> HttpRequest:
        place = parse_url(self.url + path, identity)
        return build_request("POST", place, {"Content-Type": "text/plain"}, b"hello", 1.0, read_timeout)


@asynccontextmanager
async def serving(behave: Behaviour, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server on a free port that meets every connection with `behave` and closes when that is over."""
    server = Server()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.visits += 1
        server.open += 1
        await server.tell()
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await behave(Visit(server.visits, reader, writer))
        writer.transport.abort() if writer.transport.is_closing() else writer.close()
        server.open -= 1
        await server.tell()

    listening = await asyncio.start_server(meet, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        with suppress(TimeoutError):
            await server.until(lambda server: server.open == 0)


def saying(*pieces: bytes) -> Behaviour:
    """Hear one request, say these pieces, and close."""

    async def behave(visit: Visit) -> None:
        await visit.heard()
        for piece in pieces:
            await visit.say(piece)

    return behave


async def polite(visit: Visit) -> None:
    """Answer every request with 200, for as long as someone asks."""
    while await visit.heard():
        await visit.say(OK)


async def silent(visit: Visit) -> None:
    """Hear, and never answer; ends when the other side goes."""
    await visit.heard()
    await visit.reader.read()


class Received:
    """A receiver in the same loop: what it heard, taken apart. It answers what `answers` gives, then 200."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.answers: list[bytes] = []

    async def behave(self, visit: Visit) -> None:
        while request := await visit.heard():
            head, _, body = request.partition(b"\r\n\r\n")
            line, *headers = head.decode().split("\r\n")
            self.lines.append(line)
            self.headers.append({name.lower(): value for name, _, value in (line.partition(": ") for line in headers)})
            self.bodies.append(body)
            await visit.say(self.answers.pop(0) if self.answers else OK)


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    """A whole answer; an underscore in a header's name is a dash."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
