"""A small HTTP server on a free port of this machine, for the sample jobs to call."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

import msgspec

FLAKY: Final = "/flaky"
FAILURES: Final = 2
DOWN: Final = "/down"
SLOW: Final = "/slow"
SLOW_CALL_S: Final = 0.2
LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
OK: Final = "200 OK"
UNAVAILABLE: Final = "503 Service Unavailable"

OnCall = Callable[[str, bytes], None]
"""Called with the path and the body of each request."""


class SampleCall(msgspec.Struct):
    """The part of a call that the receiver reads."""

    attempt: int


def ignore_call(_path: str, _body: bytes) -> None:
    """Do nothing with a request."""


@asynccontextmanager
async def receiving(on_call: OnCall = ignore_call) -> AsyncIterator[str]:
    """Run the server during the block; gives its URL."""
    server = await asyncio.start_server(partial(_answer, on_call), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()


async def _answer(on_call: OnCall, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after the other, until the client closes the connection."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            path = head.split(b" ", 2)[1].decode()
            on_call(path, body)
            if path == SLOW:
                await asyncio.sleep(SLOW_CALL_S)
            writer.write(f"HTTP/1.1 {_status(path, body)}\r\nContent-Length: 0\r\n\r\n".encode())
    writer.close()


def _status(path: str, body: bytes) -> str:
    """The flaky path fails for the first attempts, and the path of a target that is down always; others succeed."""
    if path == DOWN:
        return UNAVAILABLE
    if path == FLAKY and msgspec.json.decode(body, type=SampleCall).attempt <= FAILURES:
        return UNAVAILABLE
    return OK
