"""Real nodes to measure: `horae node` in processes of their own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from benchmarks import wrapped
from benchmarks.data import TENANT
from benchmarks.server import FOLDER, ROLE, Server
from horae.domain.ids import Prefix, public
from horae.domain.targets.egress import Egress
from horae.security import keyrings

LOCAL = Egress(networks=("127.0.0.0/8",), ports=("1-65535",), plain=True)
NOTHING: Mapping[str, str] = {}
SECRET = "whsec_" + "YmVuY2htYXJrcyBuZWVkIG5vIHNlY3JldHM="


def keyring() -> Path:
    """Keys of their own for what we start: payloads are sealed, as by default."""
    path = FOLDER / "keyring.json"
    if not path.exists():
        keyrings.create(path, "bench")
    return path


class Process:
    """A running node: what it costs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cpu_seconds(self) -> float:
        """CPU so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        """Memory now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def node(
    server: Server,
    *databases: str,
    program: tuple[str, ...] = ("horae", "node"),
    secrets: tuple[str, ...] = (TENANT,),
    inside: Mapping[str, str] = NOTHING,
) -> Iterator[Process]:
    """A node over these databases, ended by SIGTERM. `inside` is what `benchmarks.wrapped` measures in its process."""
    if inside or wrapped.PATCH in os.environ:
        program = ("benchmarks.wrapped", *program)
    cells = [{"name": name, "dsn": server.dsn(name, ROLE), "upkeep_dsn": server.dsn(name)} for name in databases]
    tenants = {public(Prefix.TENANT, UUID(tenant)): {"bench": SECRET} for tenant in secrets}
    env = os.environ | {
        "HORAE_CELLS": json.dumps(cells),
        "HORAE_SECRETS": json.dumps(tenants),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_NODE_MONITORING_PORT": "0",
        "HORAE_LOG_LEVEL": "WARNING",
        "HORAE_KEYRING": str(keyring()),
        **inside,
    }
    with (FOLDER / "node.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", *program], env=env, stdout=log, stderr=log)
    try:
        yield Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def told() -> None:
    """Until SIGTERM."""
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    await end.wait()
