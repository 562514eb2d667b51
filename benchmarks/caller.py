"""Who calls: some connections that ask one thing after the other, as fast as they are answered or at a given rate.

`python -m benchmarks.caller PLAN` in a process of its own; PLAN is JSON, and so is what it prints at the end.
"""

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from statistics import quantiles

import msgspec
import uvloop

from benchmarks.measure import own_cpu

TYPE, QUEUE, JOB = "BENCH", "bench", "bench_history"
AT = "2100-01-01T00:00:00Z"
PATIENCE = 60


@dataclass(frozen=True)
class Plan:
    """Whom to ask, for what, for how long; `rate` in requests a second, 0 as fast as possible."""

    port: int
    kind: str
    key: str
    seconds: float
    batch: int = 100
    connections: int = 8
    rate: float = 0.0
    first: int = field(default_factory=time.time_ns)


@dataclass(frozen=True)
class Called:
    """What came of it. `done` counts tasks, pages or instances, `warm` those before; times run from when it was due."""

    warm: int
    done: int
    requests: int
    seconds: float
    cpu: float
    p50_ms: float
    p99_ms: float


class Connection(asyncio.Protocol):
    """One request after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """We are through."""
        self.transport = transport
        self.buffer = b""
        self.due: float | None = None
        self.answer: asyncio.Future[bytes] | None = None

    def data_received(self, data: bytes) -> None:
        """A piece of an answer."""
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0 or self.answer is None:
            return
        head = self.buffer[:end].lower()
        at = head.find(b"content-length: ")
        length = int(head[at + 16 :].partition(b"\r\n")[0])
        if len(self.buffer) >= end + 4 + length:
            answer, self.answer = self.answer, None
            body, self.buffer = self.buffer[end + 4 :], b""
            if b" 200 " not in head[:16]:
                answer.set_exception(RuntimeError(body.decode()))
            else:
                answer.set_result(body)

    def connection_lost(self, exc: Exception | None) -> None:
        """The other end hung up."""
        if self.answer is not None:
            self.answer.set_exception(exc or ConnectionError("hung up"))

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)  # type: ignore[attr-defined]
        return await self.answer


class Caller:
    """All connections of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.numbers = itertools.count(plan.first)
        self.head = f"Host: bench\r\nAuthorization: Bearer {plan.key}\r\nContent-Type: application/json\r\n"
        self.late: list[float] = []
        self.done = 0

    async def run(self) -> Called:
        """Open the connections, then begin to count."""
        loop = asyncio.get_running_loop()
        made = [await loop.create_connection(Connection, "127.0.0.1", self.plan.port)
                for _ in range(self.plan.connections)]  # fmt: skip
        work: Callable[[Connection], Awaitable[int]] = getattr(self, self.plan.kind)
        warm = sum(await asyncio.gather(*(work(connection) for _, connection in made)))  # what is made once is made
        self.late = []
        began, cpu = time.monotonic(), own_cpu()
        turns = self._turns(began)
        await asyncio.gather(*(self._repeat(connection, work, turns, began) for _, connection in made))
        seconds, spent = time.monotonic() - began, own_cpu() - cpu
        cuts = quantiles([1000 * one for one in self.late], n=100) if len(self.late) > 1 else [float("inf")] * 99
        return Called(warm, self.done, len(self.late), seconds, spent, round(cuts[49], 2), round(cuts[98], 2))

    def _turns(self, began: float) -> Iterator[float | None]:
        if not self.plan.rate:
            return itertools.repeat(None)
        return (began + number / self.plan.rate for number in itertools.count())

    async def _repeat(
        self, connection: Connection, work: Callable[[Connection], Awaitable[int]], turns: Iterator[float | None],
        began: float,
    ) -> None:  # fmt: skip
        until = began + self.plan.seconds
        while (now := time.monotonic()) < until:
            due = next(turns) or now
            if due > until:
                return
            if due > now:
                await asyncio.sleep(due - now)
            connection.due = due
            done = await work(connection)
            self.done += done

    async def _ask(self, connection: Connection, method: str, path: str, body: str) -> bytes:
        """One request, timed from when it was due, or from now where it follows another."""
        due, connection.due = connection.due or time.monotonic(), None
        text = f"{method} /api/v1{path} HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n{body}"
        answer = await connection.ask(text.encode())
        self.late.append(time.monotonic() - due)
        return answer

    async def put_one(self, connection: Connection) -> int:
        """One new task."""
        body = f'{{"at":"{AT}","payload":{{"n":1}}}}'
        await self._ask(connection, "PUT", f"/tasks/{TYPE}/k{next(self.numbers)}", body)
        return 1

    async def put_batch(self, connection: Connection) -> int:
        """A batch of new tasks."""
        keys = itertools.islice(self.numbers, self.plan.batch)
        tasks = ",".join([f'{{"key":"k{key}","at":"{AT}","payload":{{"n":1}}}}' for key in keys])
        answer = await self._ask(connection, "PUT", f"/tasks/{TYPE}", f'{{"tasks":[{tasks}]}}')
        assert b'"problem"' not in answer, answer[:500]
        return self.plan.batch

    async def history(self, connection: Connection) -> int:
        """A page of a job's history."""
        await self._ask(connection, "GET", f"/jobs/{JOB}/instances?limit=50", "")
        return 1

    async def work(self, connection: Connection) -> int:
        """Claim a batch, and finish it."""
        asked = f'{{"queue":"{QUEUE}","worker_id":"bench","limit":{self.plan.batch}}}'
        answer = await self._ask(connection, "POST", "/workers/poll", asked)
        if answer[:1] != b"{":
            return self.plan.batch  # the bare framework's constant
        items = [
            {"instance_id": one["instance_id"], "attempt": one["attempt"], "token": one["token"]}
            for one in msgspec.json.decode(answer)["items"]
        ]
        if items:
            body = msgspec.json.encode({"items": items}).decode()
            said = await self._ask(connection, "POST", "/workers/finish", body)
            assert said.count(b'"done"') == len(items), said[:500]
        return len(items)


def call(plan: Plan) -> Called:
    """Run a plan in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.caller", json.dumps(asdict(plan))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=plan.seconds + PATIENCE)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Called(**json.loads(done.stdout))


if __name__ == "__main__":
    print(json.dumps(asdict(uvloop.run(Caller(Plan(**json.loads(sys.argv[1]))).run()))))
