"""A small HTTP server on a free port of this machine, for the sample jobs to call."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec

FLAKY: Final = "/flaky"
FAILURES: Final = 2
LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class SampleCall(msgspec.Struct):
    """The part of a call that the receiver reads."""

    attempt: int


@asynccontextmanager
async def receiving() -> AsyncIterator[str]:
    """Run the server during the block; gives its URL."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after the other, until the client closes the connection."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            writer.write(f"HTTP/1.1 {_status(head, body)}\r\nContent-Length: 0\r\n\r\n".encode())
    writer.close()


def _status(head: bytes, body: bytes) -> str:
    """The flaky path fails for the first attempts; all other calls succeed."""
    path = head.split(b" ", 2)[1].decode()
    if path == FLAKY and msgspec.json.decode(body, type=SampleCall).attempt <= FAILURES:
        return "503 Service Unavailable"
    return "200 OK"
