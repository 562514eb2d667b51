"""The repairs of one cell: decided like intents, written in one transaction with audit row and findings."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import HoraeError
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import (
    ComparedTask,
    DifferenceKind,
    KeyHistory,
    ListedTask,
    repair_version,
)
from horae.domain.sources.sources import TaskSource
from horae.domain.tasks.tasks import Decision, Intent, KeyState
from horae.runtime.randomness import id_maker, new_id
from horae.runtime.telemetry import count
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.tasks.batch_rounds import NEVER, TaskBatchRound
from horae.service.tasks.tasks import ScheduleAnswer
from horae.store.audit import audit
from horae.store.protocol import CellProtocol
from horae.store.sources import repairs
from horae.store.sources.repairs import RepairRow
from horae.store.tasks import batches
from horae.store.tx import COLLIDED, Tx

TRIES: Final = 5
"""How often a transaction is tried when another writer inserts one of its keys first."""
COUNTED: Final = {
    Decision.CREATED: "created",
    Decision.MOVED: "moved",
    Decision.REPLACED: "moved",
    Decision.CANCELLED: "cancelled",
}
"""The decisions that are repairs, and the names of their counts."""


class PlannedRepair(NamedTuple):
    """A difference to repair: the listed task, and our side as it was compared."""

    found: DifferenceKind
    shard: int
    key: str
    wanted: ListedTask | None
    live: ComparedTask | None = None
    past: KeyHistory | None = None


async def repair_in_cell(
    ctx: Context, cell: CellProtocol, job: Job, source: TaskSource, repairs_due: Sequence[PlannedRepair]
) -> list[str]:
    """Repair the differences that are unchanged since the comparison. Returns the name of a count for each repair."""
    if source.dry:
        await cell.run(lambda tx: _note(tx, source, repairs_due, {}))
        return []
    given = any(one.wanted is not None and one.wanted.payload is not msgspec.UNSET for one in repairs_due)
    key = await ctx.store.cipher.key(ctx.tenant.id) if given else None

    async def work(tx: Tx) -> dict[str, ScheduleAnswer]:
        done = await _repair(ctx, tx, job, repairs_due, key)
        repaired = [one for one in repairs_due if one.key in done]
        if repaired:
            await _note(tx, source, repaired, done)
            await _audit(ctx, tx, source, repaired, done)
        return done

    for left in reversed(range(TRIES)):
        try:
            done = await cell.run(work)
            break
        except COLLIDED:  # another writer was first with a key; the next try reads its row
            if not left:
                return []
    ctx.wakes.wake_all(cell, [(one.shard, one.wanted.at) for one in repairs_due if one.key in done and one.wanted])
    named = [COUNTED[answer.decision] for answer in done.values()]
    for name in set(named):
        count(f"source.{name}", named.count(name), source=source.name)
    return named


async def _repair(
    ctx: Context, tx: Tx, job: Job, repairs_due: Sequence[PlannedRepair], key: DataKey | None
) -> dict[str, ScheduleAnswer]:
    """Repair the keys that are unchanged since the comparison. Returns the answer of each repaired key.

    1. Lock the compared live tasks, in row order, and read the current state of all keys.
    2. Skip each key whose live task or generation differs from the comparison.
    3. Decide the others like intents of a task batch, and write them.
    """
    seen = sorted((one.live for one in repairs_due if one.live is not None), key=lambda live: (live.shard, live.id))
    locked = await repairs.lock(tx, seen) if seen else set()
    known = await batches.find(tx, job.id, [one.shard for one in repairs_due], [one.key for one in repairs_due])
    turn = TaskBatchRound(job, ctx.actor, tx.now, key, widenings=len(ctx.tenant.former))
    for one in repairs_due:
        now = known.get(one.key, NEVER)
        if not _is_unchanged(one, now, locked):
            continue
        if one.wanted is None:
            turn.cancel(one.shard, one.key, now, None)
        else:
            version = repair_version(one.wanted.version, now.ledger.intent_version if now.ledger else None)
            turn.put(one.shard, one.key, now, Intent(one.wanted.at, one.wanted.payload, version))
    written = await turn.write(tx)
    return {
        name: answer
        for name, answer in written.items()
        if not isinstance(answer, HoraeError) and answer.decision in COUNTED
    }


def _is_unchanged(one: PlannedRepair, now: KeyState, locked: set[UUID]) -> bool:
    """Whether a business key is as it was compared."""
    if one.live is not None:
        return now.live is not None and now.live.id == one.live.id and one.live.id in locked
    if now.live is not None:
        return False
    if one.past is None:
        return now.ledger is None
    return now.ledger is not None and now.ledger.generation == one.past.generation


async def _note(
    tx: Tx, source: TaskSource, repairs_due: Sequence[PlannedRepair], done: dict[str, ScheduleAnswer]
) -> None:
    new_id = id_maker(tx.now)
    findings = [
        RepairRow(
            one.shard,
            new_id(one.shard),
            one.key,
            one.found,
            done[one.key].decision if one.key in done else None,
            one.live.at if one.live else None,
            one.wanted.at if one.wanted else None,
        )
        for one in repairs_due
    ]
    await repairs.append(tx, source.tenant_id, source.id, source.round, findings)


async def _audit(
    ctx: Context, tx: Tx, source: TaskSource, repaired: Sequence[PlannedRepair], done: dict[str, ScheduleAnswer]
) -> None:
    """Write one audit row for all repairs of a transaction; it names every business key."""
    shard = repaired[0].shard
    keys: dict[str, list[str]] = {}
    for one in repaired:
        keys.setdefault(done[one.key].decision, []).append(one.key)
    await audit.append(
        tx,
        shard,
        new_id(shard, tx.now),
        source.tenant_id,
        actor=ctx.actor,
        action="source.repaired",
        resource=public(Prefix.SOURCE, source.id),
        detail={"type": source.name, "round": source.round, **keys},
    )
