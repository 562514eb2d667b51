"""pgbench as the bare engine: it runs the very statements of `store/sql`."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Slice, own_cpu
from benchmarks.meter import Meter
from benchmarks.server import BIN, PORT
from horae.store.cells import SESSION

OPTIONS = " ".join(
    "-c {}={}".format(name, value.replace(" ", r"\ ")) for name, value in SESSION.items() if name != "application_name"
)
TOKEN = "00000000-0000-4000-8000-000000000001"
PLACE = re.compile(r"\$(\d+)")


def as_script(statement: str, places: Sequence[str]) -> str:
    """A statement of ours with pgbench's variables in the place of its parameters, without comments, on one line."""
    text = " ".join(re.sub(r"--[^\n]*", "", statement).split())
    assert len(places) == max(int(number) for number in PLACE.findall(text)), "one value for each parameter"
    return PLACE.sub(lambda found: places[int(found[1]) - 1], text)


def plain_end(node: str) -> list[str]:
    """What `instances.end` gets for each row behind its shard, id and attempt, where a call has succeeded."""
    note = r'"{\"attempt\": 1, \"status\": 200, \"duration_ms\": 3}"'
    return [TOKEN, "null", "SUCCESS", "null", "null", "null", "null", "0", "3", "2", note, node]


def repeated(value: str, times: str) -> str:
    """A value so many times, as the text of an array; `times` may be a variable of the script."""
    return f"('{{' || rtrim(repeat('{value},', {times}), ',') || '}}')"


def run(
    database: str, scripts: Sequence[tuple[Path, int]], clients: int, seconds: float, meter: Meter, fires_each: int
) -> Slice:
    """One slice; each pass of the first script counts as so many fires. A script comes with its weight."""
    files = [word for path, weight in scripts for word in ("-f", f"{path}@{weight}")]
    cpu = own_cpu()
    with meter.measuring() as cost:
        began = time.monotonic()
        done = subprocess.run(
            [BIN / "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(max(1, round(seconds))),
             "-D", "batch=0", "-D", f"run={time.time_ns() // 10**8 % 2**24}", "-D", "low=1970-01-01",
             "-h", "127.0.0.1", "-p", str(PORT), "-U", "postgres", *files, database],
            env=os.environ | {"PGOPTIONS": OPTIONS}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        took = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    passes = re.search(r"SQL script 1:.*?- (\d+) transactions", done.stdout, re.DOTALL)
    passes = passes or re.search(r"actually processed: (\d+)", done.stdout)
    assert passes is not None
    return cost.slice(int(passes[1]) * fires_each, took, own_cpu() - cpu)
