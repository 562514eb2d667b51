"""A scratch PostgreSQL on the newest backup of a cell: only this user reaches it, and it archives nothing."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from horae.boot.dev.programs import programs, someone_else
from horae.domain.errors import Invalid, Unavailable
from horae.runtime.settings import CellSettings

PORT: Final = "5432"
"""A part of the name of the socket; no TCP port is opened."""
SETTINGS: Final = {
    "listen_addresses": "",
    "archive_mode": "off",
    "hot_standby": "off",  # nobody reads during recovery, so the server needs not the sizes of the lost one
    "shared_preload_libraries": "",
    "ssl": "off",
}
POLL_S: Final = 0.2
TAIL_CHARACTERS: Final = 400


class BackupPlace(NamedTuple):
    """Where pgBackRest finds the backups of a cell, and the folder below which they are restored.

    Passphrases are in the environment, as for PostgreSQL itself.
    """

    cell: str
    program: Path
    config: Path
    stanza: str
    repository: int
    scratch: Path


def restoring(place: BackupPlace, folder: Path) -> "subprocess.Popen[str]":
    """Start pgBackRest, which restores the newest backup into `data` of an empty folder."""
    owner = _data_folder(folder)
    options = [f"--config={place.config}", f"--stanza={place.stanza}", f"--repo={place.repository}"]
    command = [str(place.program), *options, f"--pg1-path={folder / 'data'}", "restore"]
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **owner)
    except OSError as error:
        raise Invalid(f"{place.program} cannot be started: {error.strerror}") from error


def finish_restoring(program: "subprocess.Popen[str]") -> None:
    """Wait until the backup is restored. The server replays the archive afterwards."""
    said, _ = program.communicate()
    if program.returncode:
        raise Unavailable(f"pgBackRest could not restore: {_tail(said)}")


def _data_folder(folder: Path) -> dict[str, Any]:
    """Make the data folder; returns as which user programs of PostgreSQL run."""
    owner, data = someone_else(folder), folder / "data"
    data.mkdir(mode=0o700)
    if owner:
        os.chown(data, owner["user"], owner["group"])
    return owner


def start(folder: Path) -> None:
    """Start PostgreSQL on the restored data. It goes on when the drill ends; the guardian stops it."""
    data, owner = folder / "data", someone_else(folder)
    access = folder / "pg_hba.conf"
    access.write_text("local all all trust\n")  # the folder of the socket is its owner's alone
    version = (data / "PG_VERSION").read_text().strip()
    options = [f"-c{name}={value}" for name, value in {**SETTINGS, "hba_file": str(access)}.items()]
    if owner:
        os.chown(access, owner["user"], owner["group"])
    with (folder / "log").open("wb") as log:
        subprocess.Popen(
            [programs(version) / "postgres", "-D", data, "-k", folder, "-p", PORT, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **owner,
        )


def cell_of(cell: CellSettings, folder: Path) -> CellSettings:
    """The same cell at the scratch server."""
    found = urlsplit(cell.upkeep_dsn or cell.direct_dsn or cell.dsn)
    user, database = found.username or "postgres", found.path.lstrip("/") or "postgres"
    dsn = f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(folder))}&port={PORT}"
    return CellSettings(name=cell.name, dsn=dsn)


async def until_ready(folder: Path) -> None:
    """Wait until the server has replayed the archive and takes connections."""
    while not await asyncio.to_thread(_is_ready, folder):  # noqa: ASYNC110  # another process has no event
        await asyncio.sleep(POLL_S)


def _is_ready(folder: Path) -> bool:
    """Whether the server takes connections. Raises Unavailable where it has ended."""
    data, log = folder / "data", folder / "log"
    command: list[str | Path] = [
        programs((data / "PG_VERSION").read_text().strip()) / "pg_isready",
        "-q",
        "-h",
        folder,
        "-p",
        PORT,
    ]
    if subprocess.run(command, check=False).returncode == 0:
        return True
    if not (data / "postmaster.pid").exists() and log.stat().st_size:
        raise Unavailable(f"the restored server did not start: {_tail(log.read_text(errors='replace'))}")
    return False


def _tail(text: str) -> str:
    return " ".join(text.split())[-TAIL_CHARACTERS:]
