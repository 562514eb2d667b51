"""A REPEATABLE READ snapshot held throughout, beside the same run without one, in alternating slices.

Nothing that dies while it is held can be vacuumed. Two copies of the same cell: the snapshot in one of them holds back
only that one. Upkeep's own VACUUM runs in both, every three seconds. Also how large the live table is after all of it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg

from benchmarks import psql
from benchmarks.data import fresh
from benchmarks.measure import JOBS, Bound, Slice, alternate, judged, middle
from benchmarks.meter import Meter
from benchmarks.runs import RUNS, KeptRuns, Run
from benchmarks.server import SETTINGS, Server, running
from benchmarks.store import BATCH, WORKERS, ours
from horae.store.cells import Cell
from horae.store.store import Store
from horae.upkeep.vacuum import Vacuumer

SLICES = 12
PAUSE = 3.0
FULL_S = 360.0
BOUNDS = (Bound("ratio", least=0.9),)


def main(seconds: float) -> dict[str, Any]:
    """Five runs in full size; the worst of their ratios counts."""
    kept = KeptRuns("snapshot", seconds)
    while kept.many("held") < (RUNS if seconds >= FULL_S else 1):
        kept.add("held", once(seconds))
    runs = kept.done["held"]
    ratios = [run["ratio"] for run in runs]
    return judged({**min(runs, key=lambda run: run["ratio"]), "ratios": ratios}, BOUNDS)


def once(seconds: float) -> Run:
    """Half of the time without, half with the snapshot."""
    length = seconds / SLICES / 2
    with running() as server:
        free, held = (fresh(server, JOBS, name) for name in ("bench_free", "bench_held"))
        with _snapshot(server, held):
            without, with_one = alternate(
                SLICES,
                lambda _: _slice(server, free, length),
                lambda _: _slice(server, held, length),
            )
            dead = int(psql.value(server, held, _DEAD))
        size = int(psql.value(server, free, "select pg_total_relation_size('instance_live')"))
    rate, bare = middle(with_one, lambda s: s.rate), middle(without, lambda s: s.rate)
    late, early = with_one[-3:], with_one[:3]
    return {
        "settings": {"jobs": JOBS, "batch": BATCH, "workers": WORKERS, "slice_s": length, "postgresql": SETTINGS},
        "rate": round(rate),
        "bare": round(bare),
        "ratio": round(rate / bare, 3),
        "last_slices_ratio": round(middle(late, lambda s: s.rate) / middle(without[-3:], lambda s: s.rate), 3),
        "first_slices_ratio": round(middle(early, lambda s: s.rate) / middle(without[:3], lambda s: s.rate), 3),
        "pg_cpu_ratio": round(_cpu(with_one) / _cpu(without), 3),
        "seconds_each": round(sum(s.seconds for s in with_one)),
        "dead_rows_held": dead,
        "lifecycles": sum(s.fires for s in without),
        "live_mb_after": round(size / 2**20, 1),
        "rates": [round(s.rate) for s in with_one],
        "bare_rates": [round(s.rate) for s in without],
    }


_DEAD = "select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where relname in ('instance_live', 'job_cursor')"


def _cpu(slices: list[Slice]) -> float:
    return middle(slices, lambda s: s.per_fire(s.pg_cpu))


def _slice(server: Server, database: str, length: float) -> Slice:
    return ours(server, database, Meter(server, database), length, beside=upkeep(server.dsn(database)))


async def upkeep(dsn: str) -> None:
    """As a node does it, beside the load, until the slice is over."""
    duty = Vacuumer(Store([Cell("bench", dsn)]))
    while True:
        await duty.once()
        await asyncio.sleep(PAUSE)


@contextmanager
def _snapshot(server: Server, database: str) -> Iterator[None]:
    """Someone reads, and does not stop."""
    loop = asyncio.new_event_loop()
    reader = loop.run_until_complete(asyncpg.connect(server.dsn(database)))
    transaction = reader.transaction(isolation="repeatable_read", readonly=True)
    loop.run_until_complete(transaction.start())
    loop.run_until_complete(reader.fetchval("select count(*) from job_cursor"))
    try:
        yield
    finally:
        loop.run_until_complete(transaction.rollback())
        loop.run_until_complete(reader.close())
        loop.close()
