"""Three members of `deploy/patroni`, each with its Patroni, PostgreSQL and etcd on a network of its own."""

import asyncio
import json
import os
import pwd
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import asyncpg
import httpx2
import yaml

from tests.cluster import BIN
from tests.system.children import ROOT, Child
from tests.system.failover.network import Switch

MEMBERS: Final = 3
ETCD_PORT: Final = 2379
PEER_PORT: Final = 2380
REST_PORT: Final = 8008
POSTGRESQL_PORT: Final = 5432
START_TIMEOUT_S: Final = 120.0
STEADY_S: Final = 4.0
STREAMING: Final = "select count(*) from pg_stat_replication where state = 'streaming'"
DEPLOYED: Final = ROOT / "deploy" / "patroni" / "cluster.yml"
PATRONI: Final = "/usr/bin/patroni"
"""Debian's: it runs with the system's Python."""


class Member:
    """One machine: an etcd, a Patroni agent, and the PostgreSQL that the agent starts."""

    def __init__(self, number: int, folder: Path, switch: Switch) -> None:
        self.number = number
        self.name = f"db{number}"
        self.folder = folder / self.name
        self.address = switch.address(number)
        self.data = self.folder / "data"
        self._switch = switch
        self.folder.mkdir(parents=True)
        self.etcd = Child(f"etcd-{number}", self.folder / "etcd.log")
        self.agent = Child(f"patroni-{number}", self.folder / "patroni.log")

    def write(self, zone: str) -> None:
        """The member's own file beside the file of the cluster."""
        configured = self.folder / "patroni"
        configured.mkdir()
        shutil.copy(DEPLOYED, configured / "cluster.yml")
        hosts = [f"{self._switch.address(n)}:{ETCD_PORT}" for n in range(1, MEMBERS + 1)]
        own = {
            "name": self.name,
            "etcd": {"hosts": hosts},
            "restapi": {f"{way}": f"{self.address}:{REST_PORT}" for way in ("listen", "connect_address")},
            "postgresql": {
                "listen": f"{self.address}:{POSTGRESQL_PORT}",
                "connect_address": f"{self.address}:{POSTGRESQL_PORT}",
                "data_dir": str(self.data),
                "bin_dir": str(BIN),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                    "rewind": {"username": "postgres"},
                },
                "parameters": {
                    "horae.zone": zone,
                    "unix_socket_directories": str(self.folder),
                    "shared_buffers": "64MB",
                },
                "pg_hba": ["local all all trust", "host replication all samenet trust", "host all all samenet trust"],
            },
            "tags": {"zone": zone},
        }
        (configured / "member.yml").write_text(yaml.safe_dump(own))
        _give_to_postgres(self.folder)

    def start_etcd(self) -> None:
        """Start it, after its end as well."""
        client, peer = f"http://{self.address}:{ETCD_PORT}", f"http://{self.address}:{PEER_PORT}"
        members = {f"db{n}": f"http://{self._switch.address(n)}:{PEER_PORT}" for n in range(1, MEMBERS + 1)}
        options = {
            "name": self.name,
            "data-dir": self.folder / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "enable-v2": "true",
            "initial-cluster": ",".join(f"{name}={url}" for name, url in members.items()),
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        self.etcd.spawn([*self._switch.prefix(self.number), "/usr/bin/etcd", *words])

    def start_agent(self) -> None:
        """Start Patroni, after its end as well. PostgreSQL is its child."""
        rights = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]
        command = [*self._switch.prefix(self.number), *rights, PATRONI, str(self.folder / "patroni")]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        self.agent.spawn(command, env, dies_by="TERM")

    @property
    def postmaster(self) -> int | None:
        """The pid of its PostgreSQL; None where it does not run."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if Path(f"/proc/{pid}").exists() else None

    def kill(self) -> None:
        """As when the power goes: agent and PostgreSQL at once; etcd of the machine goes on."""
        pid = self.postmaster
        self.agent.signal(signal.SIGKILL)
        if pid is not None:
            for child in _children(pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.agent.end()

    def end(self) -> None:
        """End all of it by pid."""
        self.agent.signal(signal.SIGCONT)
        self.kill()
        self.etcd.signal(signal.SIGCONT)
        self.etcd.end()


class PatroniCluster:
    """The members, and what they say of themselves."""

    def __init__(self, folder: Path) -> None:
        self.switch = Switch(MEMBERS)
        self.members = [Member(n, folder, self.switch) for n in range(1, MEMBERS + 1)]

    @property
    def hosts(self) -> str:
        """The hosts of a DSN that names every member."""
        return ",".join(f"{member.address}:{POSTGRESQL_PORT}" for member in self.members)

    def dsn(self, database: str, user: str = "postgres") -> str:
        """A DSN with every member; the one that takes writes is found by whoever connects."""
        return f"postgresql://{user}@{self.hosts}/{database}?sslmode=disable"

    async def start(self) -> float:
        """Start everything; returns the seconds until there is a primary with a synchronous standby."""
        began = time.monotonic()
        self.switch.open()
        for member, zone in zip(self.members, "abc", strict=True):
            member.write(zone)
            member.start_etcd()
        for member in self.members:
            member.start_agent()
        await self.healthy()
        return time.monotonic() - began

    async def healthy(self, seconds: float = START_TIMEOUT_S) -> None:
        """Wait until the same primary has had two standbys that stream, one of them synchronous, for `STEADY_S`.

        A standby that has just come back may have to start again: the next fault would strike a second member.
        """
        deadline, since, before = time.monotonic() + seconds, time.monotonic(), None
        while time.monotonic() < deadline:
            found = await self._whole()
            if found is None or found != before:
                since, before = time.monotonic(), found
            elif time.monotonic() - since >= STEADY_S:
                return
            await asyncio.sleep(0.25)
        told = [f"{member.name}:\n{member.agent.tail(8)}" for member in self.members]
        raise TimeoutError(f"the cluster is not whole after {seconds:g} s\n" + "\n".join(told))

    async def _whole(self) -> tuple[str, str] | None:
        """The primary and its synchronous standby, where the other standby streams, too."""
        roles = {one["role"]: one["name"] for one in await self.states() if one["state"] in {"running", "streaming"}}
        if roles.keys() != {"leader", "replica", "sync_standby"}:
            return None
        primary = next(member for member in self.members if member.name == roles["leader"])
        dsn = f"postgresql://postgres@{primary.address}/postgres?sslmode=disable"
        try:
            connection = await asyncpg.connect(dsn, timeout=2)
            try:
                streaming = await connection.fetchval(STREAMING, timeout=2)
            finally:
                connection.terminate()
        except (OSError, asyncpg.PostgresError):
            return None
        return (roles["leader"], roles["sync_standby"]) if streaming == MEMBERS - 1 else None

    async def states(self) -> list[dict[str, Any]]:
        """The members as Patroni's agents list them; empty where no agent answers."""
        async with httpx2.AsyncClient(timeout=1.5) as client:
            for member in self.members:
                with suppress(httpx2.HTTPError, json.JSONDecodeError, KeyError):
                    answer = await client.get(f"http://{member.address}:{REST_PORT}/cluster")
                    listed: list[dict[str, Any]] = answer.json()["members"]
                    return listed
        return []

    async def member(self, role: str) -> Member:
        """The member that has a role: `leader`, `sync_standby` or `replica`."""
        name = next(one["name"] for one in await self.states() if one["role"] == role)
        return next(member for member in self.members if member.name == name)

    def close(self) -> None:
        """End every process, then the network."""
        for member in self.members:
            member.end()
        self.switch.close()


def _give_to_postgres(folder: Path) -> None:
    user = pwd.getpwnam("postgres")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.pw_uid, user.pw_gid)
    folder.chmod(0o700)


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
