"""Checks, before anything fires, whether the cells have what the guarantees of Horae need."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from horae.boot.key_check import check_keyring
from horae.domain.errors import Unfit
from horae.domain.health.doctor import ROWS, Diagnosis, Severity, examine_role, examine_rows, unfit
from horae.domain.health.rights import examine_ownership, examine_rights
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.databases import roles
from horae.store.health import health, rights
from horae.store.store import Store
from horae.store.tx import GONE, Tx

IDLE_IN_TRANSACTION_MS: Final = 10_000
"""What our own sessions set; the lower bound of due scans relies on it."""


async def check(settings: Settings, store: Store) -> None:
    """Refuse to start on a cell without the latest migrations, or with a role that lacks a right.

    In production, also refuse a superuser role and a cell where commits may be lost. A cell that is down is checked
    when it joins. A cell that goes down during the check is closed, and joins later.
    """
    found: list[str] = []

    async def visit(cell: Cell) -> None:
        found.extend(await _faults(settings, cell))
        if not found:
            await check_keyring(settings, cell, store.cipher)

    await visit_open(store, visit)
    if found:
        raise Unfit("; ".join(found))


async def visit_open(store: Store, visit: Callable[[Cell], Awaitable[None]]) -> None:
    """Visit each open cell. A cell that is lost meanwhile is closed and joins later, unless it is the last one."""
    for cell in store.cells:
        if cell.is_open:
            try:
                await visit(cell)
            except GONE:
                if sum(one.is_open for one in store.cells) == 1:
                    raise
                await cell.close()


@asynccontextmanager
async def pooled_statement(cell: Cell) -> AsyncIterator[Tx]:
    """Statements on a connection as the cell's pool makes it, whether the cell is open or not."""
    own = cell.as_pooled()
    await own.open()
    try:
        async with own.statement() as tx:
            yield tx
    finally:
        await own.close()


async def check_cell(settings: Settings, cell: Cell) -> None:
    """Check one cell like `check`."""
    if found := await _faults(settings, cell):
        raise Unfit("; ".join(found))


async def check_session(cell: Cell) -> None:
    """Refuse a pooled cell whose role does not set the timeout that due scans rely on.

    A pooler does not pass on the settings of our sessions. This asks without the pooler, as the same role, because a
    cell is checked before it is opened.
    """
    if not cell.pooled:
        return
    async with cell.direct() as connection:
        given = await health.settings(Tx(connection, datetime.now(UTC)))
    idle_ms = int(given["idle_in_transaction_session_timeout"])
    if not 0 < idle_ms <= IDLE_IN_TRANSACTION_MS:
        raise Unfit(
            f"{cell.name}: idle_in_transaction_session_timeout is {idle_ms} ms behind the pooler;"
            f' set it to {IDLE_IN_TRANSACTION_MS} ms for this role, as the page "Database roles" says'
        )


async def _faults(settings: Settings, cell: Cell) -> list[str]:
    if cell.pooled:
        return [f"{cell.name}: a node needs sessions of its own; only cells of HORAE_API_CELLS may be pooled"]
    production = settings.environment == "production"
    async with cell.direct() as connection:
        tx = Tx(connection, datetime.now(UTC))
        facts = await health.facts(tx, hosts=cell.hosts)
        wrong = unfit(facts, production=production)
        if not wrong and (other := await _other_environment(tx, settings)):
            return [f"{cell.name}: {other}"]
    if not facts.pending_migrations:  # a cell that misses migrations has no grants to compare with
        found = await examine_node_roles(cell, production=production)
        wrong += [one for one in found if one.level is Severity.FAULT]
    return [sentence(cell.name, one) for one in wrong]


async def _other_environment(tx: Tx, settings: Settings) -> str | None:
    """Why a process of another environment keeps away from a database of production: its calls obey other rules."""
    theirs = await health.environment(tx)
    if theirs != "production" or settings.environment == theirs:
        return None
    given = f"this database belongs to the environment {theirs!r}, and HORAE_ENVIRONMENT is {settings.environment!r}"
    return f"{given}: give each environment a database of its own"


def sentence(cell: str, one: Diagnosis) -> str:
    """A finding in one line."""
    return f"{cell}: {one.name} is {one.found}: {one.advice}"


async def examine_node_roles(cell: Cell, *, production: bool) -> list[Diagnosis]:
    """Check the roles of the pool, of the direct DSN and of upkeep, which may all differ."""
    async with pooled_statement(cell) as tx:
        found = await _examine(tx, "the pool") if production else []
        found.append(await _compare(tx, "the pool"))
    async with cell.direct() as connection:
        found.append(await _compare(Tx(connection, datetime.now(UTC)), "direct_dsn"))
    async with cell.direct(owner=True) as connection:
        tx = Tx(connection, datetime.now(UTC))
        found += await _examine(tx, "upkeep_dsn") if production else []
        found.append(examine_ownership(await rights.compare(tx, roles.OWNER), name="role for upkeep"))
    return found


async def examine_api_rights(tx: Tx) -> Diagnosis:
    """Check that a role may do what requests need."""
    compared = await rights.compare(tx, roles.API)
    return examine_rights(compared, name="role of the API", setting="HORAE_API_DSN or HORAE_API_CELLS")


async def _compare(tx: Tx, whose: str) -> Diagnosis:
    compared = await rights.compare(tx, roles.ENGINE)
    return examine_rights(compared, name=f"node's role in {whose}", setting="HORAE_DSN or HORAE_CELLS")


async def _examine(tx: Tx, whose: str) -> list[Diagnosis]:
    superuser, hidden = await health.is_superuser(tx), await health.hidden_tables(tx)
    role = examine_role(superuser=superuser, production=True, name=f"role of {whose}")
    return [role, examine_rows(hidden, name=f"{ROWS} for the role of {whose}")]
