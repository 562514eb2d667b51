"""Workers of the SDK that do nothing, in processes of their own: `python -m benchmarks.pulling PLAN`; PLAN is JSON.

Each prints what was done and durable between two moments, which are the same for all: the server says `done` after its
commit, and only that is counted. `all` is what was done from the first to the last, to be found in the database.
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
SOON = 0.2


@dataclass(frozen=True)
class Plan:
    """Whom to ask, for which type, for how long, how many at once, and in how many processes."""

    port: int
    key: str
    type: str
    seconds: float
    concurrency: int
    processes: int = 1


@dataclass(frozen=True)
class Pulled:
    """What came of it."""

    done: int
    seconds: float
    cpu: float
    all: int
    late: int


async def pull(plan: Plan) -> Pulled:
    """Work until the slice is over; it begins when every process has done its first, at a moment it is told."""
    worker = Worker(f"http://127.0.0.1:{plan.port}", plan.key, concurrency=plan.concurrency, wait=1.0)

    @worker.task(plan.type)
    async def nothing(_ctx: object) -> None:
        """A task that does nothing."""

    serving = asyncio.create_task(worker.serve())
    while not worker.counts["done"]:
        await asyncio.sleep(0.01)
    print("begun", flush=True)
    start = float(await asyncio.to_thread(sys.stdin.readline))
    await asyncio.sleep(start - time.monotonic())
    began, cpu, before = time.monotonic(), own_cpu(), worker.counts["done"]
    await asyncio.sleep(start + plan.seconds - time.monotonic())
    done, seconds, spent = worker.counts["done"] - before, time.monotonic() - began, own_cpu() - cpu
    worker.stop()
    await serving
    return Pulled(done, seconds, spent, worker.counts["done"], worker.counts["late"])


def run(plan: Plan) -> Pulled:
    """Run a plan in processes of its own; what all of them did, in the time that the slowest clock of them says."""
    command = [sys.executable, "-m", "benchmarks.pulling", json.dumps(asdict(plan))]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(plan.processes)]
    try:
        for one in started:
            assert one.stdout is not None
            if one.stdout.readline() != "begun\n":
                raise RuntimeError("a worker ended before it had done anything")
        start = time.monotonic() + SOON
        found = []
        for one in started:
            assert one.stdin is not None
            one.stdin.write(f"{start}\n")
            one.stdin.flush()
        for one in started:
            said, _ = one.communicate(timeout=plan.seconds + PATIENCE)
            found.append(Pulled(**json.loads(said)))
    finally:
        for one in started:
            if one.poll() is None:
                one.kill()
            one.wait()
    return Pulled(
        sum(one.done for one in found), max(one.seconds for one in found), sum(one.cpu for one in found),
        sum(one.all for one in found), sum(one.late for one in found),
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(asdict(uvloop.run(pull(Plan(**json.loads(sys.argv[1])))))))
