"""A target with an effect ledger: `python -m tests.system.target FOLDER`. The port it took stands in `FOLDER/port`.

The path says how it behaves: `/ok`, `/fail/2` (503 for the first two attempts), `/flaky/2` (the same, for one key in
three), `/slow/400` (milliseconds), `/drop/20` (one in twenty takes effect and is hung up on), `/hang`, `/refuse` (503).
`POST /mode` with such a path as its body makes every path behave so until it is told `/own` again. A key that took
effect has no second effect. An answer names the row of its call.
"""

import asyncio
import json
import sqlite3
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple, cast
from zlib import crc32

import uvloop

LENGTH: Final = b"\r\ncontent-length: "
OWN: Final = "/own"
TABLES: Final = """
    pragma journal_mode = wal;
    pragma synchronous = normal;
    create table if not exists delivery (
        seq integer primary key, idem_key text not null, instance text not null, job text not null, business_key text,
        fire_time text not null, attempt integer not null, arrived_at real not null, path text not null,
        answer text not null, answered_at real);
    create table if not exists effect (
        idem_key text primary key, instance text not null, attempt integer not null, fire_time text not null,
        at real not null);
    create index if not exists delivery_key on delivery (idem_key);
"""


class Way(NamedTuple):
    """How a call is answered. No status: it is hung up on."""

    status: int | None
    effect: bool
    after: float = 0.0
    word: str = "ok"
    body: bytes = b""


class Ledger:
    """Every call is a row, and its effect is written in the same transaction as the answer is decided."""

    def __init__(self, path: Path) -> None:
        self._sqlite = sqlite3.connect(path, isolation_level=None)
        self._sqlite.executescript(TABLES)
        self._seq = self._sqlite.execute("select coalesce(max(seq), 0) from delivery").fetchone()[0]

    def close(self) -> None:
        self._sqlite.close()

    def take(self, call: dict[str, object], path: str, mode: str) -> Way:
        now = time.time()
        self._seq += 1
        way = decide(path if mode == OWN else mode, int(str(call["attempt"])), self._seq, str(call["idempotency_key"]))
        key, instance, attempt, fire_time = (call[n] for n in ("idempotency_key", "instance", "attempt", "fire_time"))
        answered = None if way.status is None else now + way.after
        row = (
            self._seq,
            key,
            instance,
            call["job"],
            call.get("key"),
            fire_time,
            attempt,
            now,
            path,
            way.word,
            answered,
        )
        self._sqlite.execute("begin")
        self._sqlite.execute("insert into delivery values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        if way.effect:
            effect = (key, instance, attempt, fire_time, now)
            self._sqlite.execute("insert into effect values (?, ?, ?, ?, ?) on conflict do nothing", effect)
        self._sqlite.execute("commit")
        return way._replace(body=b'{"seq": %d}' % self._seq)


def decide(path: str, attempt: int, seq: int, key: str) -> Way:
    kind, _, number = path.strip("/").partition("/")
    n = int(number or 0)
    match kind:
        case "fail" if attempt <= n:
            return Way(503, effect=False, word="503")
        case "flaky" if attempt <= n and crc32(key.encode()) % 3 == 0:
            return Way(503, effect=False, word="503")
        case "refuse":
            return Way(503, effect=False, word="503")
        case "slow":
            return Way(200, effect=True, after=n / 1000)
        case "drop" if seq % n == 0:
            return Way(None, effect=True, word="dropped")
        case "hang":
            return Way(None, effect=False, after=60.0, word="hung")
        case _:
            return Way(200, effect=True)


class Target:
    """One mode for all connections."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.mode = OWN

    def answer(self, path: str, body: bytes) -> Way:
        if path == "/mode":
            self.mode = body.decode()
            return Way(200, effect=False)
        return self.ledger.take(json.loads(body), path, self.mode)


class Visit(asyncio.Protocol):
    """One connection: request after request."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            length = int(head[head.index(LENGTH) + len(LENGTH) :].split(b"\r\n", 1)[0])
            if len(self.buffer) < end + 4 + length:
                return
            path = self.buffer.split(b" ", 2)[1].decode()
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            way = self.target.answer(path, body)
            if way.after:
                asyncio.get_running_loop().call_later(way.after, self.reply, way)
            else:
                self.reply(way)

    def reply(self, way: Way) -> None:
        if self.transport.is_closing():
            return
        if way.status is None:
            self.transport.abort()
        else:
            head = b"HTTP/1.1 %d .\r\nContent-Length: %d\r\n\r\n" % (way.status, len(way.body))
            self.transport.write(head + way.body)


async def main(folder: Path) -> None:
    target = Target(Ledger(folder / "ledger.sqlite"))
    port = folder / "port"
    wanted = int(port.read_text()) if port.exists() else 0  # started again: jobs know the old one
    server = await asyncio.get_running_loop().create_server(lambda: Visit(target), "127.0.0.1", wanted)
    made = folder / "port.new"
    made.write_text(str(server.sockets[0].getsockname()[1]))
    made.replace(port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
