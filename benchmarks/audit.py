"""What sealing the audit log costs beside the changes it seals: CPU of the sealer and of its own backend, per change.

Changes (a job is paused and resumed) come through one API process over eight connections; a sealer in a process of its
own seals every second. Its share is its CPU and that of its connection, of all that a change costs: API, PostgreSQL and
sealer together.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import psql
from benchmarks.api_server import Prepared, doors
from benchmarks.data import fresh
from benchmarks.measure import Bound, Slice, judged, middle
from benchmarks.meter import Meter
from benchmarks.nodes import Process
from benchmarks.server import FOLDER, SETTINGS, Server, running

JOBS, CONNECTIONS, SLICES = 10_000, 8, 5
BOUNDS = (Bound("sealer_share", most=0.02), Bound("rows", equals="rows_sealed"))


class Fine(Process):
    """CPU in nanoseconds: what a sealer costs is less than the ticks by which it is counted otherwise."""

    def cpu_seconds(self) -> float:
        """CPU of all its threads so far."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Bench:
    """One database, one API process, one sealer."""

    def __init__(self, server: Server, database: str, length: float) -> None:
        self.server, self.database, self.length = server, database, length
        self.meter = Meter(server, database)
        self.prepared = Prepared(server, database)

    def slice(self, port: int, api: Process, sealer: Process, backend: Process) -> tuple[Slice, float]:
        """A slice of changes: what they cost, and what the sealer took of it."""
        before = api.cpu_seconds(), sealer.cpu_seconds(), backend.cpu_seconds()
        with self.meter.measuring() as cost:
            changes, seconds = asyncio.run(change(port, self.prepared.key, self.length))
        spent = [now - then for now, then in zip(
            (api.cpu_seconds(), sealer.cpu_seconds(), backend.cpu_seconds()), before, strict=True)]  # fmt: skip
        whole = Slice(changes, seconds, cost.pg_cpu, spent[0] + spent[1], cost.wal_bytes, cost.transactions)
        return whole, spent[1] + spent[2]


async def change(port: int, key: str, seconds: float) -> tuple[int, float]:
    """Pause and resume jobs over a few connections; returns how many changes were answered, in how many seconds."""
    began = time.monotonic()
    until = began + seconds
    done = await asyncio.gather(*(_connection(port, key, number, until) for number in range(CONNECTIONS)))
    return sum(done), time.monotonic() - began


async def _connection(port: int, key: str, number: int, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    name = f"audited-{number}"
    await _ask(reader, writer, key, "POST /api/v1/jobs", b'{"name": "%s", "cron": "0 0 1 1 *"}' % name.encode())
    while time.monotonic() < until:
        for verb in ("pause", "resume"):
            status = await _ask(reader, writer, key, f"POST /api/v1/jobs/{name}/{verb}", b"")
            assert status == 200, status
            done += 1
    writer.close()
    return done


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str, what: str, body: bytes) -> int:
    kind = "Content-Type: application/json\r\n" if body else ""
    head = f"{what} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n{kind}Content-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    await reader.readexactly(int(answer.partition("content-length: ")[2].partition("\r")[0]))
    return int(answer.split()[1])


@contextmanager
def sealing(server: Server, database: str) -> Iterator[tuple[Process, Process]]:
    """A sealer in a process of its own, and the backend of its one connection."""
    with (FOLDER / "sealer.log").open("ab") as log:
        words = [sys.executable, "-m", "benchmarks.audit_chain", server.dsn(database)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, env=dict(os.environ))
    try:
        assert process.stdout is not None
        yield Fine(process.pid), Fine(int(process.stdout.readline()))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def main(seconds: float) -> dict[str, Any]:
    """Slices of changes while a sealer works."""
    length = max(2.0, seconds / SLICES)
    with running() as server:
        bench = Bench(server, fresh(server, JOBS, "bench_audit"), length)
        with doors(server, bench.database) as (port, api), sealing(server, bench.database) as (sealer, backend):
            found = [bench.slice(port, api, sealer, backend) for _ in range(SLICES)]
            waiting = "select count(*) from audit_log where xid >= (select max(until_xid) from audit_block)"
            deadline = time.monotonic() + 30
            while int(psql.value(server, bench.database, waiting)) and time.monotonic() < deadline:
                time.sleep(0.2)
        rows = int(psql.value(server, bench.database, "select count(*) from audit_log"))
        sealed, blocks = psql.value(server, bench.database, "select sum(entries), count(*) from audit_block").split("|")
    return _report(found, length, rows, int(sealed), int(blocks))


def _report(found: list[tuple[Slice, float]], length: float, rows: int, sealed: int, blocks: int) -> dict[str, Any]:
    whole = [one for one, _ in found]
    shares = sorted(spent / (one.pg_cpu + one.client_cpu) for one, spent in found)
    report = {
        "settings": {"slice_s": length, "slices": SLICES, "connections": CONNECTIONS, "postgresql": SETTINGS},
        "changes_per_s": round(middle(whole, lambda one: one.rate)),
        "cpu_ms_per_change": round(middle(whole, lambda one: one.per_fire(one.pg_cpu + one.client_cpu) * 1000), 4),
        "sealer_cpu_ms_per_change": round(sorted(one.per_fire(spent) for one, spent in found)[SLICES // 2] * 1000, 5),
        "sealer_share": round(shares[SLICES // 2], 4),
        "sealer_shares": [round(share, 4) for share in shares],
        "rows": rows,
        "rows_sealed": sealed,
        "blocks": blocks,
    }
    return judged(report, BOUNDS)
