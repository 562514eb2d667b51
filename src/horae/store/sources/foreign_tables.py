"""Tables of another system in its own PostgreSQL, read as they are. Nothing is ever written there."""

import asyncio
import io
import os
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Literal, NamedTuple, cast

import asyncpg

from horae.domain.connections.dsn import Dsn
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.domain.foreign import FAILURES, Unreadable, read_json, read_utf8, reading_foreign
from horae.store.connections.direct_connection import CONNECT_TIMEOUT_S
from horae.store.metered import ByteMeter, MeteredLoop

NO_ANSWER_ERRORS: Final = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
)
"""No answer, or no connection; a timeout is an OSError."""
FAILED: Final[tuple[type[Exception], ...]] = (*NO_ANSWER_ERRORS, *FAILURES, asyncpg.PostgresError)
"""All errors that a malicious server can make the driver raise."""
ROWS_AT_ONCE: Final = 100
"""Rows that are requested in one message, so that a page of wide rows ends early instead of exceeding the limit."""
MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
"""Bytes after which a page ends, whatever its number of rows."""
MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""The most bytes that a server may send in answer to one message, or during the login."""


async def tables(dsn: str, names: Sequence[str]) -> dict[str, str]:
    """The named tables that exist, each as CSV with a header line."""
    connection = await asyncpg.connect(
        dsn, timeout=CONNECT_TIMEOUT_S, server_settings={"default_transaction_read_only": "on"}
    )
    try:
        found = {}
        for name in names:
            copied = io.BytesIO()
            try:
                await connection.copy_from_table(name, output=copied, format="csv", header=True, null="\\N")
            except asyncpg.UndefinedTableError:
                continue
            found[name] = read_utf8(copied.getvalue())
    finally:
        await connection.close()
    if not found:
        raise NotFound(f"none of the tables {', '.join(names)} is in that database, or not on its search path")
    return found


class RowPage(NamedTuple):
    """The rows of a page; `ended`: the statement has no more rows."""

    rows: list[dict[str, Any]]
    ended: bool


class ForeignReader:
    """Reads pages of a user's statement, each in a read-only transaction."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]", meter: ByteMeter, timeout_s: float) -> None:
        self._connection = connection
        self._meter = meter
        self._timeout_s = timeout_s  # for a whole page, so that a slow server gains nothing

    async def page(self, statement: str, after: str, limit: int) -> RowPage:
        """At most `limit` rows and about `MAX_PAGE_BYTES` bytes, however many rows the statement would return."""
        try:
            with reading_foreign():
                async with asyncio.timeout(self._timeout_s):
                    return await self._read(statement, after, limit)
        except NO_ANSWER_ERRORS as error:
            if self._meter.exceeded:
                raise Invalid(f"the source's database sent more than {self._meter.most} bytes at once") from error
            raise Unavailable(f"the source's database did not answer: {type(error).__name__}") from error
        except asyncpg.PostgresError as error:
            raise Invalid(f"the source's database refused the statement: {error}") from error
        except Unreadable as error:
            raise Invalid(f"what the source's database sent cannot be read: {error}") from error

    async def _read(self, statement: str, after: str, limit: int) -> RowPage:
        rows: list[dict[str, Any]] = []
        received = 0
        self._meter.reset()
        async with self._connection.transaction(readonly=True):
            cursor = await self._connection.cursor(statement, after, limit)
            while len(rows) < limit and received < MAX_PAGE_BYTES:
                asked = min(ROWS_AT_ONCE, limit - len(rows))
                self._meter.reset()
                found = await cursor.fetch(asked)
                received += self._meter.count
                rows += [dict(row) for row in found]
                if len(found) < asked:
                    return RowPage(rows, ended=True)
        return RowPage(rows, ended=False)


@asynccontextmanager
async def open_reader(dsn: Dsn, address: str, *, seconds: float, ca: str | None = None) -> AsyncIterator[ForeignReader]:
    """A connection to an address that the egress check has allowed; TLS verifies the name of the requested host."""
    limit = str(int(seconds * 1000))
    meter = ByteMeter(MAX_ANSWER_BYTES)
    try:
        trust: ssl.SSLContext | Literal["disable"] = "disable"
        if dsn.secure:
            trust = await asyncio.to_thread(_Named.of, dsn.host, ca)
        connection = await asyncpg.connect(
            host=address,
            port=dsn.port,
            user=dsn.user,
            password=dsn.password,  # never None: the driver would look for one of ours
            passfile=os.devnull,
            database=dsn.database,
            ssl=trust,
            timeout=CONNECT_TIMEOUT_S,
            loop=cast(Any, MeteredLoop(meter)),
            command_timeout=seconds + CONNECT_TIMEOUT_S,
            server_settings={
                "application_name": "horae source",
                "default_transaction_read_only": "on",
                "statement_timeout": limit,
                "idle_in_transaction_session_timeout": limit,
            },
        )
    except FAILED as error:
        raise Unavailable(f"the source's database cannot be reached: {type(error).__name__}") from error
    try:
        for kind in ("json", "jsonb"):
            await connection.set_type_codec(kind, schema="pg_catalog", encoder=str, decoder=_json)
        yield ForeignReader(connection, meter, seconds + CONNECT_TIMEOUT_S)
    finally:
        with suppress(*FAILED):
            await connection.close(timeout=CONNECT_TIMEOUT_S)


def _json(text: str) -> Any:
    return read_json(text.encode())


class _Named(ssl.SSLContext):
    """Verifies the requested host name; the driver only knows the address that it connects to."""

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
        """Called by event loops to start TLS; sets the host name to verify."""
        return super().wrap_bio(incoming, outgoing, *args, **facts | {"server_hostname": self.name})
