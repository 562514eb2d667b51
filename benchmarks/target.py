"""A trivial HTTP server in a process of its own: it answers 200 and writes down when what arrived.

`python -m benchmarks.target PORT`; commands come line by line: `reset`, `count`, `report FILE`, `slow PATH SECONDS`.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import cast

import msgspec
import uvloop

from benchmarks.data import TARGET_PORT

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Seen:
    """Arrival times, and the lines that say what was due when."""

    def __init__(self) -> None:
        self.at = array("d")
        self.bodies: list[bytes] = []
        self.slow: dict[bytes, float] = {}


class Connection(asyncio.Protocol):
    """Answers one request after the other."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Someone calls."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """A piece of a request, or several."""
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            at = self.buffer.rfind(b"Content-Length: ", 0, end)
            length = int(self.buffer[at + 16 : self.buffer.find(b"\r\n", at)])
            whole = end + 4 + length
            if len(self.buffer) < whole:
                return
            self.seen.at.append(time.time())
            self.seen.bodies.append(self.buffer[end + 4 : whole])
            path = self.buffer.split(b" ", 2)[1] if self.seen.slow else b""
            self.buffer = self.buffer[whole:]
            if wait := self.seen.slow.get(path):
                asyncio.get_running_loop().call_later(wait, self.transport.write, ANSWER)
            else:
                self.transport.write(ANSWER)


async def serve(port: int) -> None:
    """Until standard input ends."""
    seen = Seen()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(seen), "127.0.0.1", port, backlog=4096)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    print("ready", flush=True)
    while line := await reader.readline():
        verb, _, rest = line.decode().strip().partition(" ")
        if verb == "reset":
            seen.at, seen.bodies = array("d"), []
        elif verb == "count":
            print(len(seen.at), flush=True)
            continue
        elif verb == "slow":
            path, _, seconds = rest.partition(" ")
            seen.slow[path.encode()] = float(seconds)
        elif verb == "report":
            Path(rest).write_bytes(msgspec.json.encode([list(seen.at), [body.decode() for body in seen.bodies]]))
        print("done", flush=True)
    server.close()


class Arrival(msgspec.Struct):
    """One call as the target saw it."""

    fire_time: datetime
    idempotency_key: str
    job: str
    attempt: int
    at: float = 0.0

    @property
    def late_ms(self) -> float:
        """From due to delivered."""
        return (self.at - self.fire_time.timestamp()) * 1000


class Target:
    """The running server, from outside."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def reset(self) -> None:
        """Forget what arrived."""
        self._say("reset")

    def arrivals(self) -> list[Arrival]:
        """What arrived since the last reset."""
        with tempfile.NamedTemporaryFile() as file:
            self._say(f"report {file.name}")
            times, bodies = msgspec.json.decode(Path(file.name).read_bytes())
        found = [msgspec.json.decode(body, type=Arrival) for body in bodies]
        for arrival, at in zip(found, times, strict=True):
            arrival.at = at
        return found

    def slow(self, path: str, seconds: float) -> None:
        """Calls of this path are answered so much later."""
        self._say(f"slow {path} {seconds}")

    def count(self) -> int:
        """How many calls arrived since the last reset."""
        return int(self._say("count"))

    def cpu_seconds(self) -> float:
        """What it cost so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _say(self, command: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextmanager
def receiving(port: int = TARGET_PORT) -> Iterator[Target]:
    """The server, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.target", str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield Target(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(10)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
