"""A private PostgreSQL: created in a folder if there is none yet, reached by a socket that only its user may open.

It stops at the end of the block that started it. If one is running there already, because an earlier process was killed
or another one uses the same data, it is used and left running.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from horae.boot.dev.programs import programs, someone_else
from horae.domain.errors import Invalid, Unavailable

NAME: Final = "horae"
PORT: Final = "5432"  # only part of the socket's name: nothing listens on the network
MAX_SOCKET_PATH_BYTES: Final = 103
"""The limit of macOS; Linux has four more."""
SERVER_TIMEOUT_S: Final = 60.0
SETTINGS: Final = {"listen_addresses": "", "unix_socket_permissions": "0700", "jit": "off"}
THROWAWAY_OPTIONS: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def default_folder() -> Path:
    """The default folder for data. Root's home is unreadable for the user that PostgreSQL then runs as."""
    given = os.environ.get("XDG_DATA_HOME")
    if given:
        return Path(given) / NAME / "dev"
    return Path("/var/lib") / NAME / "dev" if os.getuid() == 0 else Path.home() / ".local/share" / NAME / "dev"


@contextmanager
def throwaway() -> Iterator[str]:
    """A new cluster that is deleted afterwards; gives its DSN."""
    with throwaway_folder() as folder, kept_cluster(folder, **THROWAWAY_OPTIONS) as dsn:
        yield dsn


@contextmanager
def throwaway_folder() -> Iterator[Path]:
    """A new folder for a cluster, deleted afterwards with its contents."""
    folder = Path(tempfile.mkdtemp(prefix="horae-dev-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def kept_cluster(folder: Path, **settings: str) -> Iterator[str]:
    """The cluster in a folder, with its earlier contents; gives its DSN."""
    folder = folder.absolute()
    if len(os.fsencode(folder / f".s.PGSQL.{PORT}")) > MAX_SOCKET_PATH_BYTES:
        raise Invalid(f"{folder} is too long a path for a socket; choose a shorter one with --data")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = folder / "data"
    version = (data / "PG_VERSION").read_text().strip() if data.exists() else None
    found = programs(version)
    if version is None:
        _make(found, folder, data)
    with _running(found, folder, SETTINGS | settings):
        yield f"postgresql://{NAME}@/{NAME}?host={quote(str(folder))}&port={PORT}"


def _make(found: Path, folder: Path, data: Path) -> None:
    """Create a cluster with an empty database. It is renamed when complete; an incomplete one is created again."""
    new = folder / "data.new"
    shutil.rmtree(new, ignore_errors=True)
    words: list[str | Path] = ["-D", new, "-U", NAME, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
    _do(folder, [found / "initdb", *words])
    _do(folder, [found / "postgres", "--single", "-D", new, "postgres"], said=f"create database {NAME}\n")
    new.rename(data)


def _do(folder: Path, words: list[str | Path], said: str = "") -> None:
    done = subprocess.run(words, input=said, capture_output=True, text=True, check=False, **someone_else(folder))
    if done.returncode:
        raise Unavailable(f"no PostgreSQL could be made in {folder}: {done.stderr.strip() or done.stdout.strip()}")


@contextmanager
def _running(found: Path, folder: Path, settings: dict[str, str]) -> Iterator[None]:
    if _is_ready(found, folder):
        yield
        return
    options = [f"-c{name}={value}" for name, value in settings.items()]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [found / "postgres", "-D", folder / "data", "-k", folder, "-p", PORT, *options],
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C must not stop it: we need it for our shutdown
            **someone_else(folder),
        )
    try:
        _wait_until_ready(server, found, folder)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # a fast shutdown
        try:
            server.wait(SERVER_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_ready(server: "subprocess.Popen[bytes]", found: Path, folder: Path) -> None:
    deadline = time.monotonic() + SERVER_TIMEOUT_S
    while not _is_ready(found, folder):
        if server.poll() is not None or time.monotonic() > deadline:
            said = (folder / "log").read_text(errors="replace").strip().splitlines()
            raise Unavailable(f"PostgreSQL did not start in {folder}: " + " ".join(said[-2:]))
        time.sleep(0.05)


def _is_ready(found: Path, folder: Path) -> bool:
    asked = subprocess.run([found / "pg_isready", "-q", "-h", folder, "-p", PORT], check=False)
    return asked.returncode == 0
