"""A worker of the SDK that does nothing, in a process of its own: `python -m benchmarks.pulling PLAN`; PLAN is JSON.

It prints what was done and durable between two moments: the server says `done` after its commit, and only that is
counted. `all` is what was done from the first to the last, to be found in the database.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import uvloop

from benchmarks.measure import own_cpu
from horae_client import Worker

PATIENCE = 120


@dataclass(frozen=True)
class Plan:
    """Whom to ask, for which type, for how long, and how many at once."""

    port: int
    key: str
    type: str
    seconds: float
    concurrency: int


@dataclass(frozen=True)
class Pulled:
    """What came of it."""

    done: int
    seconds: float
    cpu: float
    all: int
    late: int


async def pull(plan: Plan) -> Pulled:
    """Work until the slice is over; it begins when the first are done."""
    worker = Worker(f"http://127.0.0.1:{plan.port}", plan.key, concurrency=plan.concurrency, wait=1.0, name="bench")

    @worker.task(plan.type)
    async def nothing(_ctx: object) -> None:
        """A task that does nothing."""

    serving = asyncio.create_task(worker.serve())
    while not worker.counts["done"]:
        await asyncio.sleep(0.01)
    began, cpu, before = time.monotonic(), own_cpu(), worker.counts["done"]
    await asyncio.sleep(plan.seconds)
    done, seconds, spent = worker.counts["done"] - before, time.monotonic() - began, own_cpu() - cpu
    worker.stop()
    await serving
    return Pulled(done, seconds, spent, worker.counts["done"], worker.counts["late"])


def run(plan: Plan) -> Pulled:
    """Run a plan in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.pulling", json.dumps(asdict(plan))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=plan.seconds + PATIENCE)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Pulled(**json.loads(done.stdout))


if __name__ == "__main__":
    print(json.dumps(asdict(uvloop.run(pull(Plan(**json.loads(sys.argv[1])))))))
