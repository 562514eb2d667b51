"""PgBouncer in transaction mode on a free port, in a temporary folder, ended by its own pid."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from tests.cluster import free_port

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def pooling(dsn: str, *, servers: int = 4) -> Iterator[str]:
    """The address of a pooler before the server of a DSN; it has few connections, so that they are shared."""
    server, port = urlsplit(dsn), free_port()
    folder = Path(tempfile.mkdtemp(prefix="horae-pool-"))
    (folder / "users").write_text('"horae_api" ""\n')
    (folder / "ini").write_text(
        f"""[databases]
* = host={server.hostname} port={server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder / "users"}
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = 500
logfile = {folder / "log"}
pidfile = {folder / "pid"}
ignore_startup_parameters = extra_float_digits
"""
    )
    process = subprocess.Popen([PROGRAM, "-q", str(folder / "ini")], **_user(folder))
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


async def connected(dsn: str) -> None:
    """Wait until the pooler answers."""
    deadline = time.monotonic() + 10
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
