"""Our side of a comparison with a source: live tasks by key, ledgers, and what was repaired."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.lifecycle import State
from horae.domain.sources.comparisons import ComparedTask, DifferenceKind, KeyHistory, Repair
from horae.store.arrays import plain, texts
from horae.store.statements import sql
from horae.store.tx import Tx

FORGOTTEN_AT_ONCE: Final = 5000


class RepairRow(NamedTuple):
    """A difference and the decision about it; None in a dry run."""

    shard: int
    id: UUID
    key: str
    found: DifferenceKind
    decision: str | None
    ours: datetime | None
    theirs: datetime | None


async def live_tasks(
    tx: Tx, shards: Sequence[int], job_id: UUID, after: str, upto: str, limit: int
) -> list[ComparedTask]:
    """The live tasks of a type after one key and up to another, ordered by the bytes of the keys."""
    rows = await tx.rows(sql("sources/repairs/live_tasks"), shards, job_id, after, upto, limit)
    return [ComparedTask(*row)._replace(state=STATES[row["state"]]) for row in rows]


async def ledgers(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> dict[str, KeyHistory]:
    """The ledger of each key that was ever used."""
    rows = await tx.rows(sql("sources/repairs/ledgers"), job_id, plain(shards), texts(keys))
    return {row[0]: KeyHistory(row[1], None if row[2] is None else State(row[2]), row[3], row[4]) for row in rows}


async def lock(tx: Tx, seen: Sequence[ComparedTask]) -> set[UUID]:
    """Lock the tasks that have not changed since they were compared, until the transaction ends; returns their ids."""
    columns = zip(*((one.shard, one.id, one.changed_at) for one in seen), strict=True)
    return {row["id"] for row in await tx.rows(sql("sources/repairs/lock"), *columns)}


async def append(tx: Tx, tenant_id: UUID, source_id: UUID, number: int, findings: Sequence[RepairRow]) -> int:
    """Record the findings of a round; returns the number of rows."""
    rows = await tx.rows(
        sql("sources/repairs/append"), tx.now, number, tenant_id, source_id, *zip(*findings, strict=True)
    )
    return len(rows)


async def page(tx: Tx, tenant_id: UUID, source_id: UUID, before: UUID, number: int | None, limit: int) -> list[Repair]:
    """The findings of a source that are stored in this cell, newest first."""
    rows = await tx.rows(sql("sources/repairs/page"), source_id, tenant_id, before, number, limit)
    return [Repair(*row)._replace(found=DifferenceKind(row["found"])) for row in rows]


async def forget(tx: Tx, source_id: UUID, before: UUID) -> int:
    """Delete findings that are older than an id; returns how many."""
    return len(await tx.rows(sql("sources/repairs/forget"), source_id, before, FORGOTTEN_AT_ONCE))


STATES: Final = {state.value: state for state in State}
