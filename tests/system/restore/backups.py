"""pgBackRest with the files of `deploy/pgbackrest`: archives the WAL of a server, backs it up, restores it."""

import os
import pwd
import subprocess
from datetime import datetime
from pathlib import Path

from tests.cluster import SETTINGS
from tests.system.children import ROOT

PGBACKREST = Path("/usr/bin/pgbackrest")
DEPLOY = ROOT / "deploy" / "pgbackrest"
STANZA = "cell-0"


class Repositories:
    """Two repositories of one cell, below `folder`. `s3` is the port of an S3 server that has the second one.

    Without it the second repository is a folder, too.
    """

    def __init__(self, folder: Path, s3: int | None = None, key: tuple[str, str] = ("", "")) -> None:
        self.folder = folder
        self.config = folder / "pgbackrest.conf"
        self._values = {
            "repo1-path": str(folder / "repo1"),
            "log-path": str(folder),
            "lock-path": str(folder / "lock"),
            "spool-path": str(folder / "spool"),
        }
        self._secrets = {f"PGBACKREST_REPO{number}_CIPHER_PASS": "a passphrase of the tests" for number in (1, 2)}
        if s3 is None:
            self._values |= {"repo2-type": "posix", "repo2-path": str(folder / "repo2")}
        else:
            self._values |= {"repo2-s3-endpoint": f"127.0.0.1:{s3}", "repo2-s3-bucket": "archive"}
            self._values |= {"repo2-storage-verify-tls": "n"}
            self._secrets |= {"PGBACKREST_REPO2_S3_KEY": key[0], "PGBACKREST_REPO2_S3_KEY_SECRET": key[1]}
        self._write()

    def _write(self) -> None:
        """The file of the deployment with the addresses of this test."""
        lines = (DEPLOY / "pgbackrest.conf").read_text().partition("[cell-0]")[0].splitlines()
        kept = [line for line in lines if line.partition("=")[0] not in self._values]
        if "posix" in self._values.values():
            kept = [line for line in kept if not line.startswith("repo2-s3")]
        own = [f"{name}={value}" for name, value in self._values.items()]
        self.config.write_text("\n".join([*kept, *own, f"[{STANZA}]", "pg1-path=/nowhere", ""]))
        self.config.chmod(0o644)

    def lose_first(self) -> None:
        """From now on the first repository cannot be reached."""
        (self.folder / "repo1").rename(self.folder / "repo1-unreachable")

    def settings(self, data: Path) -> dict[str, str]:
        """The settings of a server that archives its WAL here: those of the deployment."""
        lines = (DEPLOY / "postgresql.conf").read_text().splitlines()
        given = dict(line.split(" = ", 1) for line in lines if not line.startswith("#"))
        given = {name: value.strip("'") for name, value in given.items()}
        command = f"env {self._environment_words()} {PGBACKREST} --config={self.config} --pg1-path={data}"
        given["archive_command"] = given["archive_command"].replace("pgbackrest", command, 1)
        given["restore_command"] = f'{command} --stanza={STANZA} archive-get %f "%p"'
        return SETTINGS | given | {"full_page_writes": "on", "synchronous_commit": "on"}

    def _environment_words(self) -> str:
        return " ".join(f"'{name}={value}'" for name, value in self._secrets.items())

    def run(self, *words: str, data: Path, port: int | None = None) -> str:
        """Run pgBackRest as the owner of the data."""
        server = (
            [] if port is None else [f"--pg1-port={port}", f"--pg1-socket-path={data.parent}", "--pg1-user=postgres"]
        )
        options = [f"--config={self.config}", f"--stanza={STANZA}", f"--pg1-path={data}", *server]
        done = subprocess.run(
            [PGBACKREST, *options, *words],
            env=os.environ | self._secrets,
            capture_output=True,
            text=True,
            check=False,
            **_owner(self.folder),
        )
        if done.returncode != 0:
            raise RuntimeError(f"pgbackrest {words} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def back_up(self, data: Path, port: int) -> None:
        """A full backup in each repository."""
        self.run("stanza-create", data=data, port=port)
        for repository in (1, 2):
            self.run("backup", "--type=full", f"--repo={repository}", data=data, port=port)

    def restore(self, data: Path, target: datetime | None, repository: int = 1) -> None:
        """Restore into an empty folder: to a time, or to the end of the archive."""
        data.mkdir(mode=0o700)
        if "user" in (owner := _owner(self.folder)):
            os.chown(data, owner["user"], owner["group"])
        aim = [] if target is None else ["--type=time", f"--target={target:%Y-%m-%d %H:%M:%S.%f+00}"]
        action = [] if target is None else ["--target-action=promote"]
        self.run("restore", f"--repo={repository}", *aim, *action, data=data)


def _owner(folder: Path) -> dict[str, int]:
    """The user whose data it is, where the tests run as root."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}
