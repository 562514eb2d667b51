"""One PostgreSQL server of our own per cell, as in production: durable, and with a folder that survives its stops."""

import asyncio
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from signal import SIGINT, SIGQUIT
from typing import Final, Literal

import asyncpg

from tests.cluster import BIN, free_port
from tests.system.children import Child
from tests.system.faketime import faked, set_clock
from tests.system.proxy import FaultProxy

SETTINGS: Final = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "min_wal_size": "128MB",
    "max_wal_size": "512MB",
    "checkpoint_timeout": "5min",
    "autovacuum_naptime": "10s",
    "listen_addresses": "127.0.0.1",
    "log_line_prefix": "%m [%p] %a ",
    "restart_after_crash": "on",
}
STOPS: Final = {"fast": SIGINT, "immediate": SIGQUIT}


class CellServer:
    """`dsn` leads there directly, `proxy.dsn` is what nodes use.

    With `clock` its time can be moved. `disk` is the size of a tmpfs of its own that can be filled, for example "1g";
    it needs root, and is left out without.
    """

    def __init__(
        self, name: str, folder: Path, *, doors: int = 1, clock: bool = False, disk: str | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self.port = free_port()
        self.dsn = f"postgresql://postgres@127.0.0.1:{self.port}/horae"
        self.data = folder / "data"
        self.clock_file = folder / "clock" if clock else None
        self.own_clock = False
        self.mounted = False
        self._disk = disk if os.getuid() == 0 else None
        self._child = Child(name, folder / "log")
        self.proxy = FaultProxy(self.dsn, doors=doors)

    async def create(self) -> None:
        """initdb, the proxy, and the database; it runs afterwards."""
        self.folder.mkdir(parents=True)
        if self._disk:
            self.data.mkdir()
            await _run("mount", "-t", "tmpfs", "-o", f"size={self._disk}", "tmpfs", self.data)
            self.mounted = True
        if (user := _user()) is not None:
            own = pwd.getpwnam(user)
            for path in (self.folder, *([self.data] if self._disk else [])):
                os.chown(path, own.pw_uid, own.pw_gid)
                path.chmod(0o700)
        if self.clock_file is not None:
            self.move_clock("+0")
        command = [BIN / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        await _run(*_as(user), *command)
        self.proxy.start()
        self.start()
        await self.ready()
        connection = await asyncpg.connect(self.dsn.replace("/horae", "/postgres"))
        await connection.execute("create database horae")
        await connection.close()

    def start(self) -> None:
        """Start the server, after a stop as well; `ready` waits until it takes connections."""
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        command = [BIN / "postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder, *options]
        self._child.spawn([*self._moved(), *command], user=_user(), dies_by="QUIT")

    async def ready(self, seconds: float = 60.0) -> float:
        """Wait until it takes connections; returns how long that took. A server that ended is started again."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if not self._child.running:
                self.start()
            if await _accepts(self.dsn.replace("/horae", "/postgres")):
                return time.monotonic() - began
            await asyncio.sleep(0.02)
        raise TimeoutError(f"{self.name} was not ready within {seconds:g} s:\n{self._child.tail()}")

    async def stop(self, how: Literal["fast", "immediate"] = "fast") -> None:
        """Stop the server: politely, or as when the power goes, with recovery at the next start."""
        self._child.signal(STOPS[how])
        await self._child.ended(30)

    @property
    def running(self) -> bool:
        return self._child.running

    @property
    def pid(self) -> int:
        return self._child.pid

    async def use_clock(self, *, own: bool) -> None:
        """Restart with a clock that can be moved, or with the host's: it is not to run with its own for long."""
        self.own_clock = own
        await self.stop("fast")
        await self.ready()

    def move_clock(self, by: str) -> None:
        """As libfaketime says it: "+8h", "-1h", "+0 x1.1". Seen by a server that was told to use its own."""
        assert self.clock_file is not None, f"{self.name} was made without a clock of its own"
        set_clock(self.clock_file, by)

    def destroy(self) -> None:
        """End it and leave nothing behind but its log."""
        self._child.signal(SIGQUIT)
        self._child.wait(5)
        self.proxy.stop()
        if self.mounted:
            subprocess.run(["umount", "-l", self.data], check=False)
        shutil.rmtree(self.data, ignore_errors=True)

    def _moved(self) -> list[str]:
        """What makes the server believe its clock file; only the server, whose user may not read what root made."""
        told = faked(self.clock_file) if self.clock_file and self.own_clock else {}
        return ["env", *(f"{name}={value}" for name, value in told.items())] if told else []


def _user() -> str | None:
    """PostgreSQL refuses root."""
    return "postgres" if os.getuid() == 0 else None


def _as(user: str | None) -> list[str]:
    return ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--"] if user else []


async def _run(*command: str | Path) -> None:
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.DEVNULL, cwd="/")
    assert await process.wait() == 0, f"{command} failed"


async def _accepts(dsn: str) -> bool:
    try:
        connection = await asyncpg.connect(dsn, timeout=2)
        await connection.fetchval("select 1")
        await connection.close()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
        return False
    return True
