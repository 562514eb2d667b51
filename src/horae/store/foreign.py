"""Tables of another system in its own PostgreSQL, copied out as they are. Nothing is ever written there."""

import io
import os
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import asyncpg
import msgspec

from horae.domain.dsn import Dsn
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.store.line import CONNECT

UNHEARD: Final = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresConnectionError)
"""No answer, or no connection at all; a timeout is an OSError."""


async def tables(dsn: str, names: Sequence[str]) -> dict[str, str]:
    """Those of the named tables that are there, each as comma separated values under a line of names."""
    connection = await asyncpg.connect(dsn, timeout=CONNECT, server_settings={"default_transaction_read_only": "on"})
    try:
        found = {}
        for name in names:
            copied = io.BytesIO()
            try:
                await connection.copy_from_table(name, output=copied, format="csv", header=True, null="\\N")
            except asyncpg.UndefinedTableError:
                continue
            found[name] = copied.getvalue().decode()
    finally:
        await connection.close()
    if not found:
        raise NotFound(f"none of the tables {', '.join(names)} is in that database, or not on its search path")
    return found


class Reader:
    """Reads pages of a statement that is not ours, each in a transaction that may not write."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def page(self, statement: str, after: str, limit: int) -> list[dict[str, Any]]:
        """At most so many rows, however many the statement would give."""
        try:
            async with self._connection.transaction(readonly=True):
                cursor = await self._connection.cursor(statement, after, limit)
                return [dict(row) for row in await cursor.fetch(limit)]
        except UNHEARD as error:
            raise Unavailable(f"the source's database did not answer: {type(error).__name__}") from error
        except asyncpg.PostgresError as error:
            raise Invalid(f"the source's database refused the statement: {error}") from error


@asynccontextmanager
async def reading(dsn: Dsn, address: str, *, seconds: float, ca: str | None = None) -> AsyncIterator[Reader]:
    """A connection to an address that was allowed, in the name of the host that was asked for."""
    limit = str(int(seconds * 1000))
    try:
        connection = await asyncpg.connect(
            host=address,
            port=dsn.port,
            user=dsn.user,
            password=dsn.password,  # never None: the driver would look for one of ours
            passfile=os.devnull,
            database=dsn.database,
            ssl=_Named.of(dsn.host, ca) if dsn.secure else "disable",
            timeout=CONNECT,
            command_timeout=seconds + CONNECT,
            server_settings={
                "application_name": "horae source",
                "default_transaction_read_only": "on",
                "statement_timeout": limit,
                "idle_in_transaction_session_timeout": limit,
            },
        )
    except (*UNHEARD, asyncpg.PostgresError) as error:
        raise Unavailable(f"the source's database cannot be reached: {type(error).__name__}") from error
    try:
        for kind in ("json", "jsonb"):
            await connection.set_type_codec(kind, schema="pg_catalog", encoder=str, decoder=msgspec.json.decode)
        yield Reader(connection)
    finally:
        with suppress(*UNHEARD, asyncpg.PostgresError):
            await connection.close(timeout=CONNECT)


class _Named(ssl.SSLContext):
    """Verifies the name that was asked for; the driver only knows the address it connects to."""

    name: str

    @classmethod
    def of(cls, name: str, ca: str | None) -> "_Named":
        """A context that verifies name and chain: against the system's store, or against the given authority alone."""
        made = cls(ssl.PROTOCOL_TLS_CLIENT)
        made.name = name
        if ca is None:
            made.load_default_certs()
        else:
            made.load_verify_locations(cadata=ca)
        return made

    def wrap_bio(self, incoming: Any, outgoing: Any, *args: Any, **facts: Any) -> ssl.SSLObject:
        """What event loops make a TLS connection with."""
        return super().wrap_bio(incoming, outgoing, *args, **facts | {"server_hostname": self.name})
