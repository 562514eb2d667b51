"""What the walls cost on the push path, in CPU of node and PostgreSQL per fire: each alone, and all, beside none.

Every fire carries a payload of its own. Walls: the guard of addresses, the signature, the sealed payload (opened to be
sent, its answer sealed to be kept). One node runs all the time, and the sides share it and its database, so that they
differ in their walls alone; a slice is a stretch of runs that come due at one steady rate on one side. Each side is
compared with the side without walls of the same round. `again` has none either: what it costs more is the measurement's
own error. A further wall is one more line in `SIDES`.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from benchmarks import psql
from benchmarks.data import SPREAD_JOBS as JOBS
from benchmarks.data import TARGET_PORT, fresh, make_jobs
from benchmarks.measure import Bound, Slice, alternate, judged, middle
from benchmarks.meter import Meter
from benchmarks.nodes import Process, keyring, node
from benchmarks.push import park, wake
from benchmarks.server import SETTINGS, Server, running
from benchmarks.switched import guard
from benchmarks.target import Target, receiving
from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.instances.idempotency_keys import manual_key
from horae.repositories.envelopes import Envelopes
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.security.envelopes import DataKey
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.store.cells import use_json
from horae.store.store import Store

RATE = float(os.environ.get("HORAE_BENCH_WALLS_RATE", "3000"))
LEAD, WARM, SLICE, SLICES = 6.0, 1.0, 5.0, 7
TEMPLATE = 10_000
BOUNDS = (Bound("slowest_rate", least=0.9 * RATE), Bound("more.all", most=0.15))
IN_CLEAR, IN_SEALS = "00000000-0000-7000-8000-000000000002", "00000000-0000-7000-8000-000000000003"
PAYLOAD = {"article": 42, "title": "Sixteen ways to keep the hours", "tags": ["a", "b", "c"], "text": "x" * 120}
COLUMNS = ("shard_id", "id", "tenant_id", "job_id", "job_version", "idem_key", "fire_time", "due_at", "changed_at")
COLUMNS += ("priority", "lane", "slot_ms", "state", "payload")


class Side(NamedTuple):
    """Which walls stand."""

    guard: bool = False
    signature: bool = False
    sealed: bool = False


SIDES = {
    "none": Side(),
    "again": Side(),
    "guard": Side(guard=True),
    "signature": Side(signature=True),
    "sealed": Side(sealed=True),
    "all": Side(guard=True, signature=True, sealed=True),
}


class Yard:
    """One database, and jobs with and without a signature for a tenant with and without a key."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.database = fresh(server, TEMPLATE, name)
        park(server, name)
        kinds = [(signed, sealed) for signed in (False, True) for sealed in (False, True)]
        self.jobs = {kind: self._jobs(*kind) for kind in kinds}
        self.key = asyncio.run(self._key())

    def _jobs(self, signed: bool, sealed: bool) -> list[UUID]:
        target = {"kind": "http", "url": f"http://127.0.0.1:{TARGET_PORT}/"} | ({"signing": "bench"} if signed else {})
        return make_jobs(self.server, self.database, IN_SEALS if sealed else IN_CLEAR, "walls", target)

    async def _key(self) -> DataKey:
        async with Store.of([CellSettings(name="bench", dsn=self.server.dsn(self.database))]) as store:
            return await Envelopes(store, Keks([Keyring(keyring())])).key(UUID(IN_SEALS))

    def fill(self, side: Side, seconds: float) -> float:
        """Runs that come due one after the other from a moment on; returns the moment."""
        psql.run(self.server, self.database, "delete from instance_live", "vacuum instance_live")
        first = time.time() + LEAD
        asyncio.run(self._fill(side, first, int(RATE * seconds)))
        wake(self.server, self.database, first, first + seconds)
        assert time.time() < first - 1, "preparing took too long: ask for a lower HORAE_BENCH_WALLS_RATE"
        return first

    async def _fill(self, side: Side, first: float, many: int) -> None:
        ids, begin = self.jobs[side.signature, side.sealed], datetime.fromtimestamp(first, UTC)
        connection = await asyncpg.connect(self.server.dsn(self.database))
        await use_json(connection)
        rows = [self._row(side, ids[n % JOBS], n % JOBS, begin, n) for n in range(many)]
        await connection.copy_records_to_table("instance_live", records=rows, columns=COLUMNS)
        await connection.close()

    def _row(self, side: Side, job: UUID, place: int, begin: datetime, n: int) -> tuple[Any, ...]:
        shard = place * (4096 // JOBS)
        id_, at, key = (
            new_id(shard, begin),
            begin + timedelta(seconds=n / RATE),
            manual_key(job, f"{begin.timestamp()}-{n}"),
        )
        payload = self.key.encrypt(payload_of(job, key), PAYLOAD) if side.sealed else PAYLOAD
        tenant = UUID(IN_SEALS if side.sealed else IN_CLEAR)
        return (shard, id_, tenant, job, 1, key, at, at, begin, 1, 0, 13_000, "INIT", payload)


def slice_of(yard: Yard, process: Process, target: Target, side: Side, length: float) -> Slice:
    """One stretch; what counts is what arrived in its middle."""
    guard(process.pid, side.guard)
    first = yard.fill(side, WARM + length + 1)
    target.reset()
    _sleep(first + WARM)
    began = process.cpu_seconds()
    with Meter(yard.server, yard.database).measuring() as cost:
        _sleep(first + WARM + length)
    cpu = process.cpu_seconds() - began
    _sleep(first + WARM + length + 1.5)
    seen = [one for one in target.arrivals() if first + WARM <= one.at < first + WARM + length]
    return cost.slice(len(seen), length, cpu)


def main(seconds: float) -> dict[str, Any]:
    """All sides in turn."""
    length = min(SLICE, max(1.5, seconds / (SLICES * len(SIDES))))
    slices = SLICES if seconds >= 30 else 1
    with running() as server, receiving() as target:
        yard = Yard(server, "bench_walls")
        switched = ("benchmarks.switched", "node")
        with node(server, yard.database, program=switched, secrets=(IN_CLEAR, IN_SEALS)) as process:

            def measure(side: Side) -> Callable[[int], Slice]:
                return lambda _: slice_of(yard, process, target, side, length)

            for side in SIDES.values():  # the first slice of a side knows neither its jobs nor its connections
                measure(side)(0)
            done = alternate(slices, *map(measure, SIDES.values()))
    return _report(dict(zip(SIDES, done, strict=True)), length)


def _report(done: dict[str, list[Slice]], length: float) -> dict[str, Any]:
    found: dict[str, Any] = {
        "settings": {"rate": RATE, "slice_s": length, "slices": len(done["none"]), "postgresql": SETTINGS},
        "cpu_ms_per_fire": _of_all(done, _cost, 4),
        "node_ms_per_fire": _of_all(done, lambda one: one.per_fire(one.client_cpu) * 1000, 4),
        "postgresql_ms_per_fire": _of_all(done, lambda one: one.per_fire(one.pg_cpu) * 1000, 4),
        "wal_bytes_per_fire": _of_all(done, lambda one: one.per_fire(one.wal_bytes), 0),
        "more": {name: _more(slices, done["none"]) for name, slices in done.items() if name != "none"},
        "rates": {name: [round(one.rate) for one in slices] for name, slices in done.items()},
    }
    found["slowest_rate"] = round(min(one.rate for slices in done.values() for one in slices))
    return judged(found, BOUNDS)


def _of_all(done: dict[str, list[Slice]], figure: Callable[[Slice], float], digits: int) -> dict[str, float]:
    return {name: round(middle(slices, figure), digits) for name, slices in done.items()}


def _cost(one: Slice) -> float:
    return one.per_fire(one.client_cpu + one.pg_cpu) * 1000


def _more(slices: Sequence[Slice], none: Sequence[Slice]) -> float:
    """The median of how much more each cost than the one of its round: the machine's moods are the same for both."""
    return round(median(_cost(one) / _cost(bare) - 1 for one, bare in zip(slices, none, strict=True)), 4)


def _sleep(until: float) -> None:
    time.sleep(max(0.0, until - time.time()))
