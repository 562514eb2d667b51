"""A cell under load whose WAL is archived, lost, and restored to times of its past.

Everything that the trial believes comes from outside of the cell: what was acknowledged to whom and when, and what a
receiver got under which idempotency key.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from horae.domain.errors import Unavailable
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.identity.api_keys import CreatedKey
from horae.service.restores import plans, restores
from horae.service.restores.restores import OpenedCell
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.connections import admission
from horae.store.connections.admission import CellClosedError, unchecked
from horae.store.store import Store
from horae.store.tx import GONE
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from tests.catcher import Catcher
from tests.cluster import Cluster, running_data, running_server
from tests.engine.fleet import steady
from tests.engine.running import running
from tests.keyring import sealed
from tests.steps import a_type, query, until
from tests.system.restore.backups import Repositories

LONG_S = 120
FAR = datetime(2100, 1, 1, tzinfo=UTC)
KEYS = "select business_key from task_key"
BASE = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key)
    select now(), now(), now(), 1, 1, 0, n % 2048, 1, 0, gen_random_uuid(), md5((n % 100)::text)::uuid,
           md5((n % 10000)::text)::uuid, 'SUCCESS', 'base-' || n
    from generate_series(1, $1::int) n"""
ARCHIVED = "select coalesce(last_archived_wal >= $1, false) from pg_stat_archiver"


class Acknowledged(NamedTuple):
    """A task that was acknowledged, and when, by the clock of this machine, which is that of the server."""

    key: str
    at: datetime


class Author:
    """Schedules tasks one after another until it is cancelled, and writes down what was acknowledged."""

    def __init__(self, ctx: Context, pause_s: float) -> None:
        self.ctx, self.pause_s = ctx, pause_s
        self.acknowledged: list[Acknowledged] = []

    async def write(self) -> None:
        number = 0
        while True:
            number += 1
            with suppress(*GONE, Unavailable):
                await tasks.schedule(self.ctx, "ARTICLE_PUBLISH", f"a-{number}", at=FAR)
                self.acknowledged.append(Acknowledged(f"a-{number}", datetime.now(UTC)))
            await asyncio.sleep(self.pause_s)


class Trial:
    """One archived cell and another one beside it."""

    def __init__(self, folder: Path, repositories: Repositories, cells: Sequence[CellSettings], port: int) -> None:
        self.folder, self.repositories, self.cells, self.port = folder, repositories, list(cells), port
        self.author: Author | None = None
        self.revoked: CreatedKey | None = None
        self.lost_at = datetime.min
        self._restores = 0

    @property
    def data(self) -> Path:
        """The data of the server that is lost."""
        return self.folder / "data"

    async def load(
        self, catcher: Catcher, jobs: int, pause_s: float, seconds: float, *, archived: bool = True
    ) -> list[datetime]:
        """Fire jobs every second and write tasks for a while, then lose the cell. Returns times of the load.

        A key is revoked after the last of these times, and another cell hears of it. Unless `archived`, what the
        server has not archived by itself is lost with it.
        """
        async with Store.of(self.cells) as own:
            store = sealed(own)
            tenant = await tenants.create(PlatformContext(store, "test"), "acme", width=4096)
            ctx = Context.of(store, tenant, "test")
            await a_type(ctx)
            self.revoked = await api_keys.create(ctx, "revoked", [Role.ADMIN])
            await _copy(store)
            self.author = Author(ctx, pause_s)
            async with running(own):
                writing = asyncio.create_task(self.author.write())
                await steady(ctx, own, catcher, jobs)
                await until(lambda: len({one.job for one in catcher.arrivals}) == jobs, LONG_S)
                began = datetime.now(UTC)
                await asyncio.sleep(seconds)
                ended = datetime.now(UTC)
                await api_keys.revoke(ctx, self.revoked.key.id)
                await _copy(store)
                if archived:
                    await self._archive()
                await self._lose()
                writing.cancel()
                with suppress(asyncio.CancelledError):
                    await writing
        return [began, ended]

    async def _archive(self) -> None:
        """Wait until all that is written by now is archived in both repositories."""
        name = await self._ask("select pg_walfile_name(pg_switch_wal())")

        async def archived() -> bool:
            return bool(await self._ask(ARCHIVED, name))

        await until(archived, LONG_S)

    async def _lose(self) -> None:
        self.lost_at = datetime.now(UTC)
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)  # at once, as a crash
        await until(lambda: not (self.data / "postmaster.pid").exists(), LONG_S)

    async def _ask(self, statement: str, *args: object) -> Any:
        connection = await asyncpg.connect(self.cells[0].dsn)
        try:
            return await connection.fetchval(statement, *args)
        finally:
            await connection.close()

    @asynccontextmanager
    async def restored(self, target: datetime | None, repository: int = 1) -> AsyncIterator[list[CellSettings]]:
        """The cells with the first one restored to a time, or to the end of the archive. It is closed yet."""
        self._restores += 1
        folder = self.folder / f"restored-{self._restores}"
        folder.mkdir()
        folder.chmod(0o755)
        await asyncio.to_thread(self.repositories.restore, folder / "data", target, repository)
        settings = self.repositories.settings(folder / "data") | {"archive_mode": "off"}
        with running_data(folder, settings) as port:
            dsn = self.cells[0].dsn.replace(str(self.port), str(port))
            cells = [self.cells[0].model_copy(update={"dsn": dsn}), *self.cells[1:]]
            await until(lambda: _is_promoted(dsn), LONG_S)
            yield cells

    async def open(self, cells: Sequence[CellSettings]) -> OpenedCell:
        """Open the restored cell as `horae restore open` does, and forget what this process has seen before."""
        with unchecked():
            async with Store.of(cells) as store:
                ctx = PlatformContext(store, "test")
                opened = await restores.open_cell(ctx, await plans.plan(ctx, "cell-0"), "a trial")
        admission._generations.clear()
        admission._marks.clear()
        return opened

    def rpo_s(self, known: Collection[str]) -> float:
        """How long before the loss the oldest task was acknowledged that is missing after a restore to the end."""
        assert self.author is not None
        missing = [one.at for one in self.author.acknowledged if one.key not in known]
        return round((self.lost_at - min(missing, default=self.lost_at)).total_seconds(), 1)

    def acknowledged_before(self, target: datetime) -> set[str]:
        """The tasks that were acknowledged before a time."""
        assert self.author is not None
        return {one.key for one in self.author.acknowledged if one.at < target}


async def known_tasks(store: Store) -> set[str]:
    """The tasks that all cells know."""
    return {row["business_key"] for row in await query(store, KEYS)}


async def is_refused(cells: Sequence[CellSettings]) -> bool:
    """Whether a process, with all that this one remembers, is refused by the first cell."""
    try:
        async with Store.of(cells[:1]):
            return False
    except CellClosedError:
        return True


async def fires_again(cells: Sequence[CellSettings], catcher: Catcher, jobs: int) -> float:
    """Run a node until every job has fired after now; returns the seconds that it took."""
    began, at = time.monotonic(), datetime.now(UTC)
    async with Store.of(cells) as store, running(sealed(store)):
        await until(lambda: len({one.job for one in catcher.arrivals if one.fire_time > at}) == jobs, LONG_S)
    return time.monotonic() - began


async def _copy(store: Store) -> None:
    await IdentityCopier(store).once()
    await Copier(store).once()


async def _is_promoted(dsn: str) -> bool:
    try:
        connection = await asyncpg.connect(dsn)
    except (OSError, asyncpg.PostgresError):
        return False
    try:
        return not await connection.fetchval("select pg_is_in_recovery()")
    finally:
        await connection.close()


@asynccontextmanager
async def trying(folder: Path, repositories: Repositories, beside: Cluster, base_rows: int = 0) -> AsyncIterator[Trial]:
    """An archived server with one cell, backed up in both repositories, and a second cell on another server.

    `base_rows` of history are there before the backup.
    """
    with running_server(folder, repositories.settings(folder / "data")) as port:
        dsn = f"postgresql://postgres@127.0.0.1:{port}"
        connection = await asyncpg.connect(f"{dsn}/postgres")
        await connection.execute("create database horae")
        await connection.close()
        other = await beside.make_empty()
        cells = [
            CellSettings(name="cell-0", dsn=f"{dsn}/horae"),
            CellSettings(name="cell-1", dsn=beside.dsn(other)),
        ]
        await migrations.migrate(cells, "test")
        connection = await asyncpg.connect(cells[0].dsn)
        await connection.execute(BASE, base_rows)
        await connection.close()
        await asyncio.to_thread(repositories.back_up, folder / "data", port)
        try:
            yield Trial(folder, repositories, cells, port)
        finally:
            await beside.drop([other])
