"""What a cell says about itself."""

from datetime import timedelta

import asyncpg

from horae.domain.doctor import Facts
from horae.store import migrations, partitions
from horae.store.statements import sql
from horae.store.tx import Tx


async def facts(tx: Tx) -> Facts:
    """Everything `horae doctor` looks at."""
    row = await tx.row(sql("health/facts"))
    assert row is not None
    applied = set(row["migrations"] or ())
    return Facts(
        version=row["version"],
        settings=await settings(tx),
        superuser=row["superuser"],
        oldest_snapshot=row["oldest_snapshot"] or timedelta(),
        frozen_age=row["frozen_age"],
        days_ahead=await partitions.days_ahead(tx),
        pending_migrations=sum(migration.number not in applied for migration in migrations.known()),
    )


async def settings(tx: Tx) -> dict[str, str]:
    """The server's settings as it gives them to this session: ask on a connection that changed none for itself."""
    return {row["name"]: row["reset_val"] for row in await tx.rows(sql("health/settings"))}


async def environment(tx: Tx) -> str | None:
    """What the cell was made for: production, dev or test; None before its first migration."""
    try:
        found: str | None = await tx.value(sql("health/environment"))
    except asyncpg.UndefinedTableError:
        return None
    return found
