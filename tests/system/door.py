"""A door into a process under test: a line of JSON in, one out. What is asked is a method of what stands inside."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def open_door(inside: Any, path: str) -> AsyncIterator[None]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if line := await reader.readline():
                asked = json.loads(line)
                told = await getattr(inside, asked.pop("do"))(**asked)
                writer.write(json.dumps(told).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    door = await asyncio.start_unix_server(answer, path)
    try:
        yield
    finally:
        door.close()
