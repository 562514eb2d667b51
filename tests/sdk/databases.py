"""The databases of people who add tasks in their own transactions: PostgreSQL and MariaDB, both real and private."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
import pymysql

from horae_client import outbox
from horae_client.outbox.__main__ import connecting
from tests.cluster import Cluster, free_port
from tests.system.children import Child

MARIADB = Path("/usr/sbin/mariadbd")
SMALL = (
    "--no-defaults", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0", "--skip-grant-tables",  # anyone who reaches 127.0.0.1 is root here
)  # fmt: skip
BUSINESS = (
    "create table article (id bigint primary key, title varchar(100) not null)",
    "create table effect (idem_key varchar(300) primary key, what varchar(100) not null)",
)


class Database(NamedTuple):
    """One database of one kind, with a business table and the outbox."""

    kind: str
    dsn: str

    def connect(self) -> Any:
        return connecting(self.dsn)()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = self.connect()
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]
        finally:
            connection.close()

    @property
    def sqlalchemy(self) -> str:
        driver = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}[self.kind]
        return f"{driver}://{self.dsn.partition('://')[2]}"


def furnish(database: Database) -> Database:
    connection = database.connect()
    cursor = connection.cursor()
    for statement in (*BUSINESS, *outbox.ddl(database.kind).split(";")):
        if statement.strip():
            cursor.execute(statement)
    connection.commit()
    connection.close()
    return database


Make = Callable[[], Database]


def postgresql(cluster: Cluster) -> Make:
    """Makes databases in the suite's own cluster."""

    def make() -> Database:
        name = f"business_{uuid4().hex[:12]}"
        with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return furnish(Database("postgresql", cluster.dsn(name)))

    return make


@contextmanager
def mariadb() -> Iterator[Make]:
    """A private MariaDB, and what makes databases in it."""
    folder = Path(tempfile.mkdtemp(prefix="horae-mariadb-"))
    user = ["--user=root"] if os.getuid() == 0 else []
    try:
        (folder / "data").mkdir()
        subprocess.run(
            [MARIADB, *SMALL, *user, f"--datadir={folder}/data", "--bootstrap"],
            input=b"create database mysql;\n", check=True, capture_output=True,
        )  # fmt: skip
        port = free_port()
        server = Child("mariadb", folder / "log")
        socket = folder / "socket"
        server.spawn(
            [MARIADB, *SMALL, *user, f"--datadir={folder}/data", f"--port={port}", "--bind-address=127.0.0.1",
             f"--socket={socket}", f"--pid-file={folder}/pid"],
        )  # fmt: skip
        try:
            _await(port, server)
            yield lambda: _made(port)
        finally:
            server.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await(port: int, server: Child) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            pymysql.connect(host="127.0.0.1", port=port, user="root").close()
        except pymysql.Error:
            assert server.running, server.tail()
            assert time.monotonic() < deadline, "MariaDB did not start"
            time.sleep(0.05)
        else:
            return


def _made(port: int) -> Database:
    name = f"business_{uuid4().hex[:12]}"
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root")
    connection.cursor().execute(f"create database {name} character set utf8mb4")
    connection.close()
    return furnish(Database("mysql", f"mysql://root@127.0.0.1:{port}/{name}"))
