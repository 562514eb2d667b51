"""A client that costs little: one connection, one request at a time, and a loud end when the server goes."""

import asyncio
import json
from typing import Any, NamedTuple, Self

PATIENCE = 30.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str | None:
        """Our code where it is a problem."""
        return self.body.get("code") if isinstance(self.body, dict) else None


class Wire:
    """Keeps its connection alive; after an error there is a new one."""

    def __init__(self, port: int, key: str | None = None) -> None:
        self.port = port
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.hang_up()

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """The answer, or OSError, EOFError or TimeoutError where there is none."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self.send(method, path, body, **headers)
                return await self._answer()
        except BaseException:
            self.hang_up()
            raise

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        """Ask and do not wait."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        content = b"" if body is None else json.dumps(body).encode()
        lines = {"Host": "horae.test", "Content-Length": str(len(content))}
        if content:
            lines["Content-Type"] = "application/json"
        if self._key:
            lines["Authorization"] = f"Bearer {self._key}"
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())])
        self._streams[1].write(head.encode() + b"\r\n\r\n" + content)
        await self._streams[1].drain()

    def hang_up(self) -> None:
        """At once, whatever is under way."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _answer(self) -> Answer:
        reader = self._streams[0]
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        is_json = "json" in headers.get("content-type", "")
        return Answer(int(first.split()[1]), headers, json.loads(content) if is_json else content)
