"""pgbench as the bare engine: it runs the very statements of `store/sql`, fed by one query that picks a batch."""

import os
import re
import subprocess
import time
from pathlib import Path

from benchmarks.measure import Slice, own_cpu
from benchmarks.meter import Meter
from benchmarks.server import BIN, PORT
from horae.store.cells import SESSION

OPTIONS = " ".join(f"-c {name}={value}" for name, value in SESSION.items() if name != "application_name")
STATEMENT = re.compile(r"\$(\d+)")


def as_script(statement: str, names: list[str]) -> str:
    """A statement of ours with pgbench's variables in the place of its parameters, without comments, on one line."""
    text = " ".join(re.sub(r"--[^\n]*", "", statement).split())
    return STATEMENT.sub(lambda found: f":{names[int(found[1]) - 1]}", text)


def run(database: str, script: Path, clients: int, seconds: float, meter: Meter, fires_each: int) -> Slice:
    """One slice of pgbench; each pass of the script is one batch."""
    cpu = own_cpu()
    with meter.measuring() as cost:
        began = time.monotonic()
        done = subprocess.run(
            [BIN / "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(max(1, round(seconds))),
             "-D", "batch=0", "-D", f"run={time.time_ns() // 10**8 % 2**24}", "-D", "low=1970-01-01",
             "-h", "127.0.0.1", "-p", str(PORT), "-U", "postgres", "-f", script, database],
            env=os.environ | {"PGOPTIONS": OPTIONS}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        took = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    batches = int(re.search(r"actually processed: (\d+)", done.stdout)[1])
    return Slice(batches * fires_each, took, cost.pg_cpu, own_cpu() - cpu, cost.wal_bytes, cost.transactions)
