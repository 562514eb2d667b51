"""Our side of a comparison with a source: live tasks in the order of their keys, ledgers, and what was repaired."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.comparisons import Found, Living, Past, Repair
from horae.domain.lifecycle import State
from horae.store.arrays import plain, texts
from horae.store.statements import sql
from horae.store.tx import Tx

FORGOTTEN_AT_ONCE: Final = 5000


class Finding(NamedTuple):
    """What differed, and what was decided about it; None: nothing, in a dry round."""

    shard: int
    id: UUID
    key: str
    found: Found
    decision: str | None
    ours: datetime | None
    theirs: datetime | None


async def living(tx: Tx, shards: Sequence[int], job_id: UUID, after: str, upto: str, limit: int) -> list[Living]:
    """The live tasks of a type behind one key and up to another, in the order of the keys' bytes."""
    rows = await tx.rows(sql("repairs/living"), shards, job_id, after, upto, limit)
    return [Living(*row)._replace(state=STATES[row["state"]]) for row in rows]


async def ledgers(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> dict[str, Past]:
    """What is remembered of each key that was ever used."""
    rows = await tx.rows(sql("repairs/ledgers"), job_id, plain(shards), texts(keys))
    return {row[0]: Past(row[1], None if row[2] is None else State(row[2]), row[3], row[4]) for row in rows}


async def lock(tx: Tx, seen: Sequence[Living]) -> set[UUID]:
    """Keep others from changing tasks until the end of the transaction: those that are as they were seen."""
    columns = zip(*((one.shard, one.id, one.changed_at) for one in seen), strict=True)
    return {row["id"] for row in await tx.rows(sql("repairs/lock"), *columns)}


async def append(tx: Tx, tenant_id: UUID, source_id: UUID, number: int, findings: Sequence[Finding]) -> int:
    """Write down what a round found; returns how many rows that were."""
    rows = await tx.rows(sql("repairs/append"), tx.now, number, tenant_id, source_id, *zip(*findings, strict=True))
    return len(rows)


async def page(tx: Tx, tenant_id: UUID, source_id: UUID, before: UUID, number: int | None, limit: int) -> list[Repair]:
    """What a source found, as far as it is written in this cell; newest first."""
    rows = await tx.rows(sql("repairs/page"), source_id, tenant_id, before, number, limit)
    return [Repair(*row)._replace(found=Found(row["found"])) for row in rows]


async def forget(tx: Tx, source_id: UUID, before: UUID) -> int:
    """Take away what was written before an id was made; returns how many rows went."""
    return len(await tx.rows(sql("repairs/forget"), source_id, before, FORGOTTEN_AT_ONCE))


STATES: Final = {state.value: state for state in State}
