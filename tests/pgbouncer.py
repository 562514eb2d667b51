"""PgBouncer in transaction mode on a free port, in a temporary folder, ended by its own pid."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from horae.runtime.settings import CellSettings
from tests.cluster import free_port
from tests.store.walls import as_role

NAME = os.environ.get("HORAE_TEST_PGBOUNCER", "pgbouncer")
"""Another release than Debian's may be named by its path."""
PROGRAM = shutil.which(NAME, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Pooler:
    """A running pooler: its address, and the way to lead it to another server."""

    def __init__(self, folder: Path, servers: int) -> None:
        self.folder = folder
        self.port = free_port()
        self.servers = servers
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def reached(self, dsn: str, role: str = "horae_api") -> str:
        """The DSN of the same database through this pooler."""
        return urlsplit(dsn)._replace(netloc=f"{role}@{self.address}").geturl()

    def lead_to(self, *dsns: str) -> None:
        """Serve these databases; connections to where they were before are closed at the end of their transactions."""
        places = [urlsplit(dsn) for dsn in dsns]
        databases = "\n".join(f"{place.path[1:]} = host={place.hostname} port={place.port}" for place in places)
        (self.folder / "ini").write_text(
            f"""[databases]
{databases}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {self.folder / "users"}
pool_mode = transaction
default_pool_size = {self.servers}
max_client_conn = 500
logfile = {self.folder / "log"}
pidfile = {self.folder / "pid"}
ignore_startup_parameters = extra_float_digits
"""
        )
        if self.process is not None:
            self.process.send_signal(signal.SIGHUP)

    def start(self) -> None:
        self.process = subprocess.Popen([PROGRAM, "-q", str(self.folder / "ini")], **_user(self.folder))

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)


@contextmanager
def pooling(*dsns: str, servers: int = 4) -> Iterator[Pooler]:
    """A pooler before the databases of these DSNs; it has few connections to each, so that they are shared."""
    folder = Path(tempfile.mkdtemp(prefix="horae-pool-"))
    (folder / "users").write_text('"horae_api" ""\n')
    pooler = Pooler(folder, servers)
    pooler.lead_to(*dsns)
    pooler.start()
    try:
        yield pooler
    finally:
        pooler.stop()
        shutil.rmtree(folder, ignore_errors=True)


def pooled(cells: Sequence[CellSettings], pooler: Pooler, role: str = "horae_api") -> list[CellSettings]:
    """The cells as an API process reaches them behind a pooler."""
    return [
        CellSettings(name=cell.name, dsn=pooler.reached(cell.dsn, role), direct_dsn=direct.dsn, pooled=True)
        for cell, direct in zip(cells, as_role(list(cells), role), strict=True)
    ]


async def connected(dsn: str) -> None:
    """Wait until the pooler answers."""
    deadline = time.monotonic() + 60
    while True:
        try:
            connection = await asyncpg.connect(dsn, statement_cache_size=0)
        except OSError:
            assert time.monotonic() < deadline, "PgBouncer did not start"
        else:
            await connection.close()
            return


def _user(folder: Path) -> dict[str, object]:
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    for path in (folder, *folder.iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
