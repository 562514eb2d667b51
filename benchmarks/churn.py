"""How large the live table is after a million lifecycles, with upkeep's own VACUUM beside the load."""

from typing import Any

from benchmarks import psql
from benchmarks.data import fresh
from benchmarks.measure import JOBS, Bound, judged
from benchmarks.meter import Meter
from benchmarks.server import SETTINGS, running
from benchmarks.snapshot import PAUSE, upkeep
from benchmarks.store import BATCH, WORKERS, ours

ENOUGH = 1_000_000
BOUNDS = (Bound("live_mb_largest", most=64),)
SIZES = """
select string_agg(relname || ' ' || round(pg_relation_size(oid) / 1048576.0, 1), ', ' order by relname)
from pg_class where relname like 'instance_live%'
"""


def main(seconds: float) -> dict[str, Any]:
    """Slices until there were a million; `seconds` is how long one of them lasts."""
    done, rates, largest = 0, [], 0.0
    with running() as server:
        database = fresh(server, JOBS, "bench_churn")
        meter = Meter(server, database)
        while done < ENOUGH:
            one = ours(server, database, meter, seconds, beside=upkeep(server.dsn(database)))
            done += one.fires
            rates.append(round(one.rate))
            size = int(psql.value(server, database, "select pg_total_relation_size('instance_live')"))
            largest = max(largest, size / 2**20)
        parts = psql.value(server, database, SIZES)
    found = {
        "settings": {"jobs": JOBS, "batch": BATCH, "workers": WORKERS, "vacuum_every_s": PAUSE, "postgresql": SETTINGS},
        "rate": sorted(rates)[len(rates) // 2],
        "bare": None,
        "ratio": None,
        "lifecycles": done,
        "live_mb_after": round(size / 2**20, 1),
        "live_mb_largest": round(largest, 1),
        "live_mb_parts": parts,
        "rates": rates,
    }
    return judged(found, BOUNDS)
