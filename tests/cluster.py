"""Real PostgreSQL for tests: a private cluster on a free port, in a temporary folder, ended by its own pid.

The folder is in memory where there is room: most of a short test was the copying of its two databases.
"""

import os
import pwd
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

import asyncpg

from horae.runtime.settings import CellSettings
from horae.store import migrations
from horae.store.databases.roles import OWNER
from tests.memory import quick_folder

if TYPE_CHECKING:
    import psycopg

BIN = Path(os.environ.get("HORAE_TEST_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"))
"""The programs of PostgreSQL. `tools/postgresql 18` prints the folder of another version."""
SETTINGS = {
    "fsync": "off",  # a test that cuts the power starts its own cluster
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "512MB",
    "autovacuum_naptime": "5s",
    "shared_preload_libraries": "pg_stat_statements",
    "listen_addresses": "127.0.0.1",
    "log_min_messages": "fatal",
}


class Cluster:
    """A server that tests may fill with databases. `account` creates, migrates and reaches them.

    An account that is no superuser gives them to our owner's role, and a superuser makes and drops the copies for it.
    """

    def __init__(self, dsn: str, account: str | None = None) -> None:
        self._admin_dsn = dsn
        self._dsn = dsn if account is None else dsn.replace("postgres@", f"{account}@")
        self._owner = "" if account is None else f"owner {OWNER}"
        self._numbers = count()
        self._prefix = f"t{os.getpid()}"
        self._admin: psycopg.Connection[tuple[object, ...]] | None = None

    def dsn(self, database: str) -> str:
        return f"{self._dsn}/{database}"

    async def make_template(self) -> None:
        """Two migrated databases, the first and the second half of the shards; tests copy them."""
        names = [f"{self._prefix}_template_{number}" for number in range(2)]
        connection = await asyncpg.connect(self.dsn("postgres"))
        for name in names:
            await connection.execute(f'drop database if exists "{name}"')
            await connection.execute(f'create database "{name}"')
        await connection.close()
        cells = [CellSettings(name=f"cell-{n}", dsn=self.dsn(name)) for n, name in enumerate(names)]
        await migrations.migrate(cells, "test")

    async def make_cells(self, number: int) -> list[str]:
        """Fresh copies of the template cells."""
        names = []
        for n in range(number):
            names.append(f"{self._prefix}_{next(self._numbers)}_{n}")
            self._run(
                f'create database "{names[-1]}" {self._owner} template "{self._prefix}_template_{n}" strategy file_copy'
            )
        return names

    async def make_empty(self) -> str:
        """A database without anything of ours."""
        connection = await asyncpg.connect(self.dsn("postgres"))
        name = f"{self._prefix}_{next(self._numbers)}"
        await connection.execute(f'create database "{name}"')
        await connection.close()
        return name

    async def drop(self, names: list[str]) -> None:
        for name in names:
            self._run(f'drop database "{name}" with (force)')

    def close(self) -> None:
        """Close the connection of the superuser."""
        if self._admin is not None:
            self._admin.close()

    def _run(self, statement: str) -> None:
        """Run a statement as the superuser. Its connection serves all tests, whose event loops are their own."""
        import psycopg  # tests without a server do without it

        if self._admin is None or self._admin.closed:
            self._admin = psycopg.connect(f"{self._admin_dsn}/postgres", autocommit=True)
        self._admin.execute(statement)


@contextmanager
def private_cluster(**settings: str) -> Iterator[Cluster]:
    """A cluster of our own, unless `HORAE_TEST_DSN` names one."""
    given = os.environ.get("HORAE_TEST_DSN")
    if given:
        with closing(Cluster(given.rstrip("/"))) as cluster:
            yield cluster
        return
    with (
        quick_folder("horae-pg") as folder,
        running_server(folder, SETTINGS | settings) as port,
        closing(Cluster(f"postgresql://postgres@127.0.0.1:{port}", _make_account(port))) as cluster,
    ):
        yield cluster


def _make_account(port: int) -> str | None:
    """The account of a managed PostgreSQL, which `HORAE_TEST_ACCOUNT` may name: it is no superuser."""
    name = os.environ.get("HORAE_TEST_ACCOUNT")
    if name is not None:
        statement = f"create role {name} login nosuperuser createrole createdb"
        server = ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
        subprocess.run([BIN / "psql", *server, "-q", "-c", statement, "postgres"], check=True)
    return name


@contextmanager
def running_server(folder: Path, settings: dict[str, str]) -> Iterator[int]:
    """initdb and a postgres process in `folder`, as a user that is not root: PostgreSQL refuses root."""
    become = _user(folder)
    data = folder / "data"
    subprocess.run(
        [BIN / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"],
        check=True,
        stdout=subprocess.DEVNULL,
        **become,
    )
    with _serving(folder, settings, become) as port:
        yield port


@contextmanager
def running_replica(folder: Path, primary: int, settings: dict[str, str]) -> Iterator[int]:
    """A hot standby of the server on the port `primary`, copied into `folder`.

    It stays as it was copied, unless `settings` have another `recovery_min_apply_delay`.
    """
    become = _user(folder)
    options = ["-h", "127.0.0.1", "-p", str(primary), "-U", "postgres", "--checkpoint=fast", "--no-sync"]
    copy = [BIN / "pg_basebackup", "-D", folder / "data", "--write-recovery-conf", *options]
    subprocess.run(copy, check=True, **become)
    with _serving(folder, {"recovery_min_apply_delay": "1d"} | settings, become) as port:
        yield port


@contextmanager
def running_data(folder: Path, settings: dict[str, str]) -> Iterator[int]:
    """A server on the data that is in `folder` already, as after a restore. It may still be recovering."""
    with _serving(folder, settings, _user(folder)) as port:
        yield port


@contextmanager
def _serving(folder: Path, settings: dict[str, str], become: dict[str, object]) -> Iterator[int]:
    """A postgres process on the data in `folder`, until the block ends."""
    port = free_port()
    options = [f"-c{name}={value}" for name, value in settings.items()]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [BIN / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder, *options],
            stdout=log,
            stderr=log,
            **become,
        )
    try:
        _wait_ready(server, folder, port)
        yield port
    finally:
        server.send_signal(signal.SIGINT)  # fast shutdown
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    """Below those that connections are given when they go out: nobody has it before its server binds it."""
    while True:
        port = SystemRandom().randrange(10_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _user(folder: Path) -> dict[str, object]:
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}


def _wait_ready(server: "subprocess.Popen[bytes]", folder: Path, port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL did not start:\n{(folder / 'log').read_text()}")
        ready = subprocess.run([BIN / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)], check=False)
        if ready.returncode == 0:
            return
        time.sleep(0.05)
    raise RuntimeError("PostgreSQL was not ready within 120 s")
