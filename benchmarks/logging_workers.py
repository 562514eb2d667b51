"""Workers whose handlers log, in one process: `python -m benchmarks.logging_workers PLAN`; PLAN is JSON.

The handlers run until a line comes in. With no lines a second they only wait, so that what both sides of a comparison
do differently is logging and nothing else.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import uvloop

from horae_client import Worker
from horae_client.work.context import Context

PATIENCE = 60
TURN_S = 0.1
TEXT = "moved line {} of the order to the shelf, 3 of 12 pieces are left"


@dataclass(frozen=True)
class Plan:
    """Whom to ask, for which type, with how many handlers, and what each of them logs."""

    port: int
    key: str
    type: str
    handlers: int
    lines_per_second: int


async def work(plan: Plan) -> int:
    """Run the handlers until told to end; how many lines they logged."""
    worker = Worker(f"http://127.0.0.1:{plan.port}", plan.key, concurrency=plan.handlers, wait=1.0)
    ended = asyncio.Event()
    lines = running = 0

    @worker.task(plan.type)
    async def handle(ctx: Context) -> None:
        nonlocal lines, running
        running += 1
        began, turns, own = time.monotonic(), 0, 0
        while not ended.is_set():
            turns += 1
            while own < turns * TURN_S * plan.lines_per_second:
                ctx.log(TEXT.format(own))
                own += 1
            await asyncio.sleep(max(0.0, began + turns * TURN_S - time.monotonic()))
        lines += own

    serving = asyncio.create_task(worker.serve())
    while running < plan.handlers:
        await asyncio.sleep(TURN_S)
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    ended.set()
    while worker.counts["done"] < plan.handlers:
        await asyncio.sleep(TURN_S)
    worker.stop()
    await serving
    return lines


@contextmanager
def running(plan: Plan) -> Iterator[list[int]]:
    """The handlers run for as long as this lasts; then the list has the number of lines."""
    command = [sys.executable, "-m", "benchmarks.logging_workers", json.dumps(asdict(plan))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline() != "begun\n":
                raise RuntimeError("the workers that log ended before they had begun")
            logged: list[int] = []
            yield logged
            said, _ = process.communicate("end\n", timeout=PATIENCE)
            logged.append(int(said))
        finally:
            if process.poll() is None:
                process.kill()


if __name__ == "__main__":
    print(uvloop.run(work(Plan(**json.loads(sys.argv[1])))))
