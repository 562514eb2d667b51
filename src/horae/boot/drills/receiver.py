"""The receiver of a drill's load: it notes what took effect when, and answers with 503 during an outage."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Final

import msgspec

from horae.domain.drills.recovery import Effect

LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
MAX_BODY_BYTES: Final = 1_000_000


class DrillCall(msgspec.Struct):
    """The part of a call that the receiver reads."""

    job: str
    fire_time: datetime
    idempotency_key: str


class DrillReceiver:
    """`effects` has each effect once, whatever was delivered how often. `fails`: every call is answered with 503."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.url = ""
        self.fails = False
        self.effects: list[Effect] = []
        self.refused = 0
        self._now = now
        self._known: set[str] = set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other, until the client closes the connection."""
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, msgspec.MsgspecError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = LENGTH.search(head)
                body = await reader.readexactly(min(int(length[1]) if length else 0, MAX_BODY_BYTES))
                status = self._receive(msgspec.json.decode(body, type=DrillCall))
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    def _receive(self, call: DrillCall) -> str:
        if self.fails:
            self.refused += 1
            return "503 Service Unavailable"
        if call.idempotency_key not in self._known:
            self._known.add(call.idempotency_key)
            self.effects.append(Effect(call.job, call.fire_time, self._now()))
        return "200 OK"


@asynccontextmanager
async def receiving(host: str, now: Callable[[], datetime]) -> AsyncIterator[DrillReceiver]:
    """A receiver on a free port of an address of this machine, during the block."""
    receiver = DrillReceiver(now)
    server = await asyncio.start_server(receiver.answer, host, 0)
    port = server.sockets[0].getsockname()[1]
    receiver.url = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    try:
        yield receiver
    finally:
        server.close()
