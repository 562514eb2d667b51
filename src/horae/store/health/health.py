"""The state of a cell as PostgreSQL reports it."""

from datetime import timedelta
from typing import Final, NamedTuple

import asyncpg

from horae.domain.errors import Conflict
from horae.domain.health.doctor import CellFacts, UnarchivedDays
from horae.store import migrations
from horae.store.databases import archived_days, partitions, roles
from horae.store.databases.tables import SECURED_TABLES
from horae.store.health import growth
from horae.store.statements import sql
from horae.store.tx import Tx

ARCHIVE_MIGRATION: Final = 41
"""The migration with the register of archived days. A cell of an older release is examined, too."""
ARCHIVE_PATIENCE: Final = timedelta(days=2)
"""Time after which a day that is not archived is a fault: yesterday has ended, and a round takes minutes."""


class SnapshotHolder(NamedTuple):
    """A session that holds a snapshot, and for how long."""

    pid: int
    role: str | None
    application: str
    state: str | None
    age: timedelta


async def facts(tx: Tx, *, hosts: int = 1) -> CellFacts:
    """Everything that `horae doctor` checks. `hosts` are those of the DSN."""
    row = await tx.row(sql("health/health/facts"), roles.ROLES)
    assert row is not None
    applied = {int(number) for number in (row["migrations"] or "").split()}  # an array would have to be introspected
    return CellFacts(
        version=row["version"],
        settings=await settings(tx),
        superuser=row["superuser"],
        oldest_snapshot=row["oldest_snapshot"] or timedelta(),
        frozen_age=row["frozen_age"],
        multixact_age=row["multixact_age"],
        days_ahead=await partitions.days_ahead(tx),
        unarchived=await _unarchived(tx, applied),
        pending_migrations=sum(migration.number not in applied for migration in migrations.all_migrations()),
        growth=await growth.read(tx),
        hidden_tables=await hidden_tables(tx),
        sees_sessions=row["sees_sessions"],
        ends_sessions=row["ends_sessions"],
        bypassing_roles=tuple((row["bypassing_roles"] or "").split()),
        hosts=hosts,
        wal_archive_lag=None if (lag := row["wal_archive_lag_s"]) is None else timedelta(seconds=lag),
    )


async def _unarchived(tx: Tx, applied: set[int]) -> UnarchivedDays:
    """The days that wait for the archive for longer than it takes."""
    if ARCHIVE_MIGRATION not in applied:
        return UnarchivedDays(0, 0)
    return await archived_days.unarchived(tx, (tx.now - ARCHIVE_PATIENCE).date())


async def settings(tx: Tx) -> dict[str, str]:
    """The server's settings for this session. Use a connection that has changed no setting for itself."""
    return {row["name"]: row["reset_val"] for row in await tx.rows(sql("health/health/settings"))}


async def is_superuser(tx: Tx) -> bool:
    """Whether the role of this connection is a superuser, or may become one."""
    return bool(await tx.value(sql("health/health/is_superuser")))


async def hidden_tables(tx: Tx) -> int:
    """How many tables have rows that row-level security hides from the role of this connection."""
    count = await tx.value(sql("health/health/hidden_tables"), SECURED_TABLES)
    assert isinstance(count, int)
    return count


async def environment(tx: Tx) -> str | None:
    """The purpose of the cell: production, staging, dev or test; None before its first migration."""
    try:
        found: str | None = await tx.value(sql("health/health/environment"))
    except asyncpg.UndefinedTableError:
        return None
    return found


async def backend_pid(tx: Tx) -> int:
    """The pid of this session on the host of the server."""
    return int(await tx.value(sql("health/health/backend_pid")))


async def holders(tx: Tx, longer_than: timedelta) -> list[SnapshotHolder]:
    """Sessions that have held a snapshot for longer than that, longest first. They prevent VACUUM."""
    return [SnapshotHolder(*row) for row in await tx.rows(sql("health/health/holders"), longer_than)]


async def end(tx: Tx, holder: SnapshotHolder) -> bool:
    """Terminate a session, unless it holds another snapshot by now; False when there was nothing to terminate."""
    try:
        return bool(await tx.value(sql("health/health/end"), holder.pid, holder.age))
    except asyncpg.InsufficientPrivilegeError as error:
        raise Conflict(f"ending a session of {holder.role} needs pg_signal_backend") from error
