"""Days that are in the archive only, with what PostgreSQL had of them before."""

import random
from datetime import timedelta
from uuid import UUID

from horae.domain.ids import compose
from horae.domain.instances.idempotency_keys import recurring_key, task_key
from horae.service.context import Context
from horae.service.instances.archive_reader import ArchiveReader
from horae.service.memory import Memory
from horae.store.databases import archived_days
from tests.archive.history import day_of, insert

STATES = ["SUCCESS", "SUCCESS", "SUCCESS", "DEAD", "SKIPPED", "CANCELLED"]


PATIENCE_S = 60.0
"""Seconds for a read where a test is not about time: a busy neighbour must not make a page short."""


def reading(ctx: Context, target, seconds: float = PATIENCE_S) -> Context:
    """The same caller in a process that reads an archive."""
    return Context.of(ctx.store, ctx.tenant, ctx.actor, Memory(ArchiveReader(target, seconds)))


async def archive_days(archiver) -> None:
    """Archive all closed days: the first round notes when they closed."""
    await archiver.once()
    await archiver.once()


async def drop_days(store, ago: int) -> None:
    """Drop the tables of archived days from so many days ago on, as upkeep does."""
    for cell in store.cells:
        last = day_of(cell, ago).day
        async with cell.direct(owner=True) as connection:
            for day in await archived_days.listing(connection):
                if day <= last:
                    await connection.execute(f"drop table if exists instance_history_{day:%Y%m%d}")
                    await archived_days.record_drop(connection, day, cell.clock.now())
            statement = "insert into dropped_day (parent, until_day, dropped_at) values ($1, $2, $3)"
            await connection.execute(statement, "instance_history", last + timedelta(days=1), cell.clock.now())


async def some_rows(
    cell,
    tenant_id: UUID,
    job_id: UUID,
    ago: int,
    many: int,
    dice: random.Random,
    *,
    keyed: bool,
    shard: int,
    states=STATES,
) -> list[UUID]:
    """Ended instances of a job on one day: some fired days before, some tasks are cancelled long before their fire."""
    made, day = [], day_of(cell, ago)
    for n in range(many):
        at = day.begin + timedelta(seconds=dice.randrange(86_000))
        state = dice.choice(states)
        fire = at - timedelta(seconds=dice.choice([0, 0, 1, 60, 90_000, 300_000]))
        if state == "CANCELLED":
            fire = at + timedelta(days=dice.choice([1, 30]))
        id_ = compose(shard, int(min(at, fire).timestamp() * 1000), dice.getrandbits(62))
        key = f"order-{dice.randrange(5)}" if keyed else None
        facts = {"business_key": key, "generation": n} if keyed else {}
        idem_key = task_key(job_id, key, n) if keyed else recurring_key(job_id, fire)
        made.append(
            await insert(
                cell,
                tenant_id=tenant_id,
                job_id=job_id,
                ended_at=at,
                fire_time=fire,
                due_at=fire,
                id=id_,
                state=state,
                reason="MISFIRE" if state == "SKIPPED" else None,
                shard_id=shard,
                idem_key=idem_key,
                error_code="HTTP_500" if state == "DEAD" else None,
                error_msg="no\nanswer" if state == "DEAD" else None,
                duration_ms=dice.randrange(900),
                attempts=[{"attempt": 1, "duration_ms": n}],
                **facts,
            )
        )
    return made
