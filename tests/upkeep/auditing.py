"""An audit log that is filled, sealed, and tampered with by someone who may do everything."""

from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from uuid import uuid4

from horae.service.audit import verification
from horae.service.audit.verification import ChainExpectation
from horae.store.audit import blocks as rows
from horae.store.cells import Cell
from horae.store.tx import Tx
from horae.upkeep.audit_chain import EMPTY_BLOCK_INTERVAL, MOST_ENTRIES
from tests.steps import below_horizon

FILL = """
insert into audit_log (at, shard_id, id, tenant_id, actor, action, resource, detail)
select now() + n * interval '1 us', n % 64, gen_random_uuid(), $2, 'actor-' || n % 7, 'job.paused', 'job_' || n,
       jsonb_build_object('n', n, 'text', e'línea\\n"№" ' || n)
from generate_series(1, $1::int) n
"""


async def fill(cell, many):
    """So many rows in one transaction."""
    async with cell.tx() as tx:
        await tx.run(FILL, many, uuid4())


async def seal(cell, most=MOST_ENTRIES):
    async with cell.statement() as tx:
        return await rows.append(tx, tx.now - EMPTY_BLOCK_INTERVAL, most)


async def filled(cell, many, *, each=100):
    """A sealed log with a block for so many rows."""
    for _ in range(many // each):
        await fill(cell, each)
        await below_horizon(cell)
        assert (await seal(cell)).entries == each


async def fault_of(cell, anchors=()):
    oldest = cell.clock.now() - timedelta(days=180)
    return (await verification.verify(cell, ChainExpectation(anchors, oldest))).fault


@asynccontextmanager
async def omnipotent(cell):
    """Someone for whom no trigger stands in the way."""
    async with cell.pool.acquire() as connection, connection.transaction():
        await connection.execute("set local session_replication_role = replica")
        yield connection


class Undone(Exception):
    """Ends a try as if it had not been."""


class Tried(Cell):
    """A cell as someone in the middle of a transaction sees it."""

    def __init__(self, cell, god):
        self.name, self.clock = cell.name, cell.clock
        self._god = god

    @asynccontextmanager
    async def statement(self):
        yield Tx(self._god, self.clock.now())


@asynccontextmanager
async def trying(cell):
    """The one for whom no trigger stands, and the cell as they see it; afterwards nothing has happened."""
    with suppress(Undone):
        async with omnipotent(cell) as god:
            yield god, Tried(cell, god)
            raise Undone
