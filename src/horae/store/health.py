"""What a cell says about itself."""

from datetime import timedelta
from typing import NamedTuple

import asyncpg

from horae.domain.doctor import Facts
from horae.domain.errors import Conflict
from horae.store import migrations, partitions
from horae.store.statements import sql
from horae.store.tx import Tx


class Holder(NamedTuple):
    """A session that holds a snapshot, and for how long."""

    pid: int
    role: str | None
    application: str
    state: str | None
    age: timedelta


async def facts(tx: Tx) -> Facts:
    """Everything `horae doctor` looks at."""
    row = await tx.row(sql("health/facts"))
    assert row is not None
    applied = {int(number) for number in (row["migrations"] or "").split()}  # an array would have to be introspected
    return Facts(
        version=row["version"],
        settings=await settings(tx),
        superuser=row["superuser"],
        oldest_snapshot=row["oldest_snapshot"] or timedelta(),
        frozen_age=row["frozen_age"],
        multixact_age=row["multixact_age"],
        days_ahead=await partitions.days_ahead(tx),
        pending_migrations=sum(migration.number not in applied for migration in migrations.known()),
    )


async def settings(tx: Tx) -> dict[str, str]:
    """The server's settings as it gives them to this session: ask on a connection that changed none for itself."""
    return {row["name"]: row["reset_val"] for row in await tx.rows(sql("health/settings"))}


async def is_superuser(tx: Tx) -> bool:
    """Whether the role of this connection is a superuser, or may become one."""
    return bool(await tx.value(sql("health/is_superuser")))


async def environment(tx: Tx) -> str | None:
    """What the cell was made for: production, dev or test; None before its first migration."""
    try:
        found: str | None = await tx.value(sql("health/environment"))
    except asyncpg.UndefinedTableError:
        return None
    return found


async def holders(tx: Tx, longer_than: timedelta) -> list[Holder]:
    """Who has held a snapshot for longer than that, longest first: what died since cannot be vacuumed."""
    return [Holder(*row) for row in await tx.rows(sql("health/holders"), longer_than)]


async def end(tx: Tx, holder: Holder) -> bool:
    """End a session, unless it holds another snapshot by now; False where there was nothing to end."""
    try:
        return bool(await tx.value(sql("health/end"), holder.pid, holder.age))
    except asyncpg.InsufficientPrivilegeError as error:
        raise Conflict(f"ending a session of {holder.role} needs pg_signal_backend") from error
