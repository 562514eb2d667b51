"""Connections as the roles of a deployment make them."""

from urllib.parse import urlsplit

import asyncpg

from horae.runtime.settings import CellSettings

GIVE = """
do $$ declare one record; begin
    for one in select oid::regclass as name from pg_class
               where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
        execute format('alter table %s owner to horae_migrate', one.name);
    end loop;
end $$
"""


def as_role(cells: list[CellSettings], role: str) -> list[CellSettings]:
    """The same cells, reached as one of our roles."""
    return [CellSettings(name=cell.name, dsn=_with_user(cell.dsn, role)) for cell in cells]


def as_node(cells: list[CellSettings]) -> list[CellSettings]:
    """The same cells as a node in production reaches them: by the engine's role, and by the owner's for upkeep."""
    return [
        cell.model_copy(update={"upkeep_dsn": owned.dsn})
        for owned, cell in zip(cells, as_role(cells, "horae_engine"), strict=True)
    ]


async def give_to_owner(cells: list[CellSettings]) -> None:
    """Give the tables to the role that owns them in a deployment. The superuser of the tests has migrated them."""
    for cell in as_role(cells, "postgres"):
        admin = await asyncpg.connect(cell.dsn)
        await admin.execute(GIVE)
        await admin.close()


def _with_user(dsn: str, role: str) -> str:
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{role}@{parts.hostname}:{parts.port}").geturl()
