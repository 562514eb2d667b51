"""A PostgreSQL of our own to measure on, with the settings we ask of a cell and durability switched on.

It lives in `HORAE_BENCH_DIR` between runs, so that the template databases of `make bench-data` can be kept.
`HORAE_BENCH_SETTINGS` is a JSON object of settings that replace ours. `HORAE_BENCH_ROLE` is the role of nodes and of
the store's workers: `horae_engine` shows what row-level security costs them.
"""

import json
import os
import pwd
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BIN = Path("/usr/lib/postgresql/15/bin")
FOLDER = Path(os.environ.get("HORAE_BENCH_DIR", Path(tempfile.gettempdir()) / "horae-bench"))
PORT = int(os.environ.get("HORAE_BENCH_PORT", "5744"))
ROLE = os.environ.get("HORAE_BENCH_ROLE", "postgres")
SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_compression": "lz4",
    "shared_buffers": "4GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "15min",
    "max_connections": "100",
    "work_mem": "16MB",
    "maintenance_work_mem": "512MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "listen_addresses": "127.0.0.1",
    "shared_preload_libraries": "pg_stat_statements",
    "track_io_timing": "off",
    **json.loads(os.environ.get("HORAE_BENCH_SETTINGS", "{}")),
}


class Server:
    """A running PostgreSQL: where it is, and what it costs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def dsn(self, database: str, role: str = "postgres") -> str:
        """How to reach one of its databases."""
        return f"postgresql://{role}@127.0.0.1:{PORT}/{database}"

    def cpu_seconds(self) -> float:
        """CPU of the server and all its processes, those that ended included."""
        total = _cpu(self.pid, ended_children=True)
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return total + sum(_cpu(int(child)) for child in children)


@contextmanager
def running() -> Iterator[Server]:
    """The server, started where it is not running yet and ended afterwards."""
    become = _user()
    data = FOLDER / "data"
    if not data.exists():
        subprocess.run(
            [BIN / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"],
            check=True,
            stdout=subprocess.DEVNULL,
            **become,
        )
    options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
    with (FOLDER / "log").open("ab") as log:
        process = subprocess.Popen(
            [BIN / "postgres", "-D", data, "-p", str(PORT), "-k", FOLDER, *options], stdout=log, stderr=log, **become
        )
    try:
        deadline = time.monotonic() + 120
        while subprocess.run([BIN / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(PORT)], check=False).returncode:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start; see {FOLDER / 'log'}")
            time.sleep(0.1)
        yield Server(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cpu(pid: int, *, ended_children: bool = False) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    ticks = sum(map(int, fields[11 : 15 if ended_children else 13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _user() -> dict[str, object]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    os.chown(FOLDER, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": FOLDER}
