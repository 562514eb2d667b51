"""One HTTP request over one connection: plain sockets and the httptools parser.

No redirects, no cookies, no proxies, at most 64 KiB of an answer; every wait has an end.
"""

import asyncio
import ssl
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import httptools

LONGEST_ANSWER: Final = 64 * 1024
PIECE: Final = 16 * 1024


class Request(NamedTuple):
    """What is sent."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    connect_timeout: float
    read_timeout: float


class Answer(NamedTuple):
    """What came back; header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class ConnectFailed(Exception):
    """Nothing was sent: no connection came about."""


class BadAnswer(Exception):
    """Something came back that is not HTTP, or too much of it."""


async def send(request: Request) -> Answer:
    """Send and wait for the whole answer. A `TimeoutError` after the connection stood means: perhaps it was done."""
    parts = urlsplit(request.url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    try:
        async with asyncio.timeout(request.connect_timeout):
            reader, writer = await asyncio.open_connection(
                host, port, ssl=ssl.create_default_context() if secure else None
            )
    except (OSError, TimeoutError) as error:
        raise ConnectFailed(f"no connection to {host}:{port}: {error or 'timed out'}") from error
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        writer.write(_head(request, parts.netloc.rpartition("@")[2], path) + request.body)
        async with asyncio.timeout(request.read_timeout):
            return await _read(reader)
    finally:
        writer.close()


def _head(request: Request, host: str, path: str) -> bytes:
    fixed = {"Host": host, "Connection": "close", "Accept-Encoding": "identity"}
    headers = {**request.headers, **fixed, "Content-Length": str(len(request.body))}
    lines = [f"{request.method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _read(reader: asyncio.StreamReader) -> Answer:
    heard = _Heard()
    parser = httptools.HttpResponseParser(heard)
    try:
        while not heard.complete:
            piece = await reader.read(PIECE)
            if not piece:
                break
            parser.feed_data(piece)
            if heard.size > LONGEST_ANSWER:
                raise BadAnswer(f"the answer is longer than {LONGEST_ANSWER} bytes")
    except httptools.HttpParserError as error:
        raise BadAnswer(f"the answer is not HTTP: {error}") from error
    if not heard.headers_complete:
        raise BadAnswer("the connection was closed before an answer came")
    return Answer(parser.get_status_code(), heard.headers, b"".join(heard.pieces))


class _Heard:
    """Collects what the parser calls out."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.size = 0
        self.headers_complete = False
        self.complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.headers_complete = True

    def on_body(self, body: bytes) -> None:
        self.pieces.append(body)
        self.size += len(body)

    def on_message_complete(self) -> None:
        self.complete = True
