"""A TCP proxy before PostgreSQL whose weather changes at will: silence, resets, delay, drops, lost replies.

`proxied()` keeps it in a thread, for a test that needs one quickly; `FaultProxy` is a process of its own, so that
neither a busy test nor its interpreter slows what three nodes send. Both obey the same verbs.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import uvloop

from tests.system.children import ROOT
from tests.system.network import Network

PATIENCE = 10.0


class Controls:
    """What a test may do to the network between clients and their database: at one door, or at all of them.

    Every verb has happened when it returns.
    """

    def __init__(self, dsn: str) -> None:
        self._given = dsn
        self.ports: list[int]

    @property
    def dsn(self) -> str:
        """Where to connect instead: the first door."""
        return self.through(0)

    def through(self, door: int) -> str:
        """Where to connect instead."""
        parts = urlsplit(self._given)
        user, _, _ = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user}@127.0.0.1:{self.ports[door]}").geturl()

    def cut(self, door: int | None = None) -> None:
        """Drop everything from now on, on connections old and new, without a word to either end."""
        self._do("cut", door)

    def sever(self, door: int | None = None) -> None:
        """Drop everything on the connections there are; new ones work."""
        self._do("sever", door)

    def reset(self, door: int | None = None) -> None:
        """End the connections there are with a reset; new ones work."""
        self._do("reset", door)

    def refuse(self, door: int | None = None) -> None:
        """Reset every connection, old and new."""
        self._do("refuse", door)

    def slow(self, seconds: float, door: int | None = None) -> None:
        """Deliver everything that much later, in each direction."""
        self._do("slow", door, seconds)

    def trickle(self, rate: int, door: int | None = None) -> None:
        """Deliver so many bytes a second on each connection and in each direction."""
        self._do("trickle", door, rate)

    def lose_replies(self, one_in: int, door: int | None = None) -> None:
        """Reset a connection instead of telling the client that its write took effect, once in so many writes."""
        self._do("lose_replies", door, one_in)

    def mend(self, door: int | None = None) -> None:
        """Good weather again; but what was silent stays dead, and a server hears which of those clients have left."""
        self._do("mend", door)

    def counts(self, door: int | None = None) -> dict[str, int]:
        """Connections open there; over all doors connections ever made and replies lost."""
        return self._do("counts", door)

    def _do(self, verb: str, *args: float | None) -> Any:
        raise NotImplementedError


class ThreadProxy(Controls):
    """In a thread of this process."""

    def __init__(self, dsn: str, doors: int = 1, seed: int = 0) -> None:
        super().__init__(dsn)
        self._network = Network(_address(dsn), doors, seed)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(PATIENCE)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        uvloop.run(self._live())

    async def _live(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self.ports = await self._network.open()
        self._ready.set()
        await self._ended.wait()
        await self._network.close()

    def _do(self, verb: str, *args: float | None) -> Any:
        async def there() -> Any:
            return getattr(self._network, verb)(*args)

        return asyncio.run_coroutine_threadsafe(there(), self._loop).result(PATIENCE)


class FaultProxy(Controls):
    """In a process of its own, which ends with ours."""

    def __init__(self, dsn: str, doors: int = 1, seed: int = 0) -> None:
        super().__init__(dsn)
        self._options = [str(doors), str(seed)]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        host, port = _address(self._given)
        command = [sys.executable, "-m", "tests.system.proxy", host, str(port), *self._options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        self.ports = json.loads(self._process.stdout.readline())

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _do(self, verb: str, *args: float | None) -> Any:
        with self._lock:
            self._process.stdin.write(json.dumps([verb, *args]).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


@contextmanager
def proxied(dsn: str) -> Iterator[ThreadProxy]:
    """In a thread of its own, so that a blocked test does not stop the network."""
    proxy = ThreadProxy(dsn)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()


def _address(dsn: str) -> tuple[str, int]:
    parts = urlsplit(dsn)
    return parts.hostname, parts.port


async def _obey(network: Network) -> None:
    """Verbs come as lines on our input and are answered on our output; its end is ours."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _answer(await network.open())
    while line := await reader.readline():
        verb, *args = json.loads(line)
        _answer(getattr(network, verb)(*args))
    await network.close()


def _answer(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(_obey(Network((sys.argv[1], int(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4]))))
