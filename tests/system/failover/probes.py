"""Writes that were acknowledged, and by which member: what a failover must neither lose nor take twice."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import uuid4

import asyncpg
import httpx2

from tests.system.failover.patroni import Member

ANSWER_TIMEOUT_S: Final = 5.0
PROBE_PAUSE_S: Final = 0.05
RETRY_PAUSE_S: Final = 0.2
LOST: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
TABLE: Final = "create table if not exists failover_probe (id uuid primary key, member text not null)"


class Acknowledgement(NamedTuple):
    """A member has confirmed the commit of a row at `at`, by the host's monotonic clock."""

    at: float
    member: str
    id: object


class MemberProbes:
    """Writes to each member directly, without asking which one is the primary."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self.acknowledged: list[Acknowledgement] = []

    async def write(self, member: Member) -> None:
        """Insert rows until cancelled, on a new connection after each error. A row without an answer counts nothing."""
        while True:
            with suppress(*LOST):
                await self._write_on_one_connection(member)
            await asyncio.sleep(RETRY_PAUSE_S)

    async def _write_on_one_connection(self, member: Member) -> None:
        dsn = f"postgresql://postgres@{member.address}/horae?sslmode=disable"
        connection = await asyncpg.connect(dsn, timeout=2)
        try:
            while True:
                row = uuid4()
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    await connection.execute("insert into failover_probe values ($1, $2)", row, member.name)
                self.acknowledged.append(Acknowledgement(time.monotonic(), member.name, row))
                await asyncio.sleep(PROBE_PAUSE_S)
        finally:
            connection.terminate()  # without a cancel request, which would end the wait of a commit

    def promoted_at(self, old: str) -> float | None:
        """When another member than the old primary acknowledged its first row."""
        return min((one.at for one in self.acknowledged if one.member != old), default=None)

    def late(self, old: str) -> int:
        """How many rows the old primary acknowledged after another member had acknowledged one."""
        promoted = self.promoted_at(old)
        return 0 if promoted is None else sum(one.member == old and one.at > promoted for one in self.acknowledged)

    async def lost(self, connection: "asyncpg.Connection[asyncpg.Record]") -> int:
        """How many acknowledged rows the primary of now does not have."""
        there = {row["id"] for row in await connection.fetch("select id from failover_probe")}
        return sum(one.id not in there for one in self.acknowledged)


class ApiWriter:
    """Creates jobs over the API. A request without an answer is sent again with the same idempotency key."""

    def __init__(self, client: httpx2.AsyncClient, name: str) -> None:
        self._client = client
        self._name = name
        self.acknowledged: list[str] = []
        self.refused = 0

    async def write(self, pause_s: float) -> None:
        """Create jobs until cancelled."""
        number = 0
        while True:
            number += 1
            name = f"{self._name}-{number}"
            while not await self._create(name):
                await asyncio.sleep(RETRY_PAUSE_S)
            self.acknowledged.append(name)
            await asyncio.sleep(pause_s)

    async def _create(self, name: str) -> bool:
        job = {"name": name, "cron": "0 0 0 1 1 *", "target": {"kind": "http", "url": "http://127.0.0.1:9/"}}
        with suppress(httpx2.HTTPError):
            answer = await self._client.post("/api/v1/jobs", json=job, headers={"Idempotency-Key": name})
            if answer.status_code == 201:
                return True
            self.refused += 1
        return False
