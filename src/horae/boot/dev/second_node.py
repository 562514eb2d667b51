"""A second node in a process of its own, which `horae dev --night` stops as a machine does that freezes.

The kernel stops it with SIGSTOP: it keeps its connections, renews no lease, and its neighbour takes its shards.
It has a process group of its own, so that Ctrl-C does not reach it. If `horae dev` itself is killed, the kernel wakes
a stopped group that has no parent any more and hangs it up, and the node ends.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from horae.boot.dev.api_server import free_port
from horae.domain.errors import Unavailable
from horae.runtime.settings import Settings
from horae.service.context import Context
from horae.service.health import health
from horae.store.nodes.leases import NodeRow

POLL_S: Final = 0.1
Nodes = list[NodeRow]


@contextmanager
def second_node(settings: Settings, dsn: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `horae node` on the same database during the block; it is killed at the end, also where it is stopped."""
    variables = {"HORAE_DSN": dsn, "HORAE_ENVIRONMENT": "dev", "HORAE_LOG_LEVEL": "ERROR"}
    variables |= {"HORAE_NODE_MONITORING_PORT": str(free_port("127.0.0.1", settings.node_monitoring_port + 1))}
    if settings.keyring is not None:
        variables["HORAE_KEYRING"] = str(settings.keyring.absolute())
    process = subprocess.Popen(
        [sys.executable, "-m", "horae", "node"],
        env={name: value for name, value in os.environ.items() if name != "HORAE_CELLS"} | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def freeze(ctx: Context, process: "subprocess.Popen[bytes]") -> None:
    """Stop the second node once it holds shards, and wait until its neighbour has taken all of them."""
    await _until(ctx, process, lambda nodes: len([one for one in nodes if one.alive and one.shards]) > 1)
    process.send_signal(signal.SIGSTOP)
    await _until(ctx, process, lambda nodes: len([one for one in nodes if one.shards]) == 1)


async def _until(ctx: Context, process: "subprocess.Popen[bytes]", so: Callable[[Nodes], bool]) -> None:
    while not so([node for cell in await health.nodes(ctx) for node in cell.nodes or ()]):
        if process.poll() is not None:
            raise Unavailable(f"the second node ended with {process.returncode}")
        await asyncio.sleep(POLL_S)
