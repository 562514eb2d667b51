"""A TCP proxy before PostgreSQL that can fall silent: no data, no reset, as when packets are dropped."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Proxy:
    """Forwards until `cut()`; from then on it accepts and swallows, until `mend()`."""

    def __init__(self, dsn: str) -> None:
        parts = urlsplit(dsn)
        self._to = (parts.hostname, parts.port)
        self._dsn = dsn
        self._open = True
        self._cuts = 0
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def dsn(self) -> str:
        """Where to connect instead."""
        parts = urlsplit(self._dsn)
        return parts._replace(netloc=f"{parts.username}@127.0.0.1:{self._port}").geturl()

    def cut(self) -> None:
        """Drop everything from now on, on connections old and new."""
        self._open = False
        self._cuts += 1

    def mend(self) -> None:
        """Forward again, but what was connected while or before it was cut stays dead."""
        self._open = True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if not self._open:
            return
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        self._writers.append(far_writer)
        cuts = self._cuts
        with suppress(ConnectionError):
            await asyncio.gather(self._pump(reader, far_writer, cuts), self._pump(far_reader, writer, cuts))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cuts: int) -> None:
        while data := await reader.read(65536):
            if cuts != self._cuts:
                return
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _live(self, ready: threading.Event) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._ended.wait()
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    def run(self, ready: threading.Event) -> None:
        asyncio.run(self._live(ready))

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)


@contextmanager
def proxied(dsn: str) -> Iterator[Proxy]:
    """In a thread of its own, so that a blocked test does not stop the network."""
    proxy, ready = Proxy(dsn), threading.Event()
    thread = threading.Thread(target=proxy.run, args=(ready,), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        proxy.end()
        thread.join()
