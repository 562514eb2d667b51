"""The repairs of one cell: decided as intents are, written in one transaction with audit row and findings."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.comparisons import Found, Living, Past, Wanted, proven
from horae.domain.errors import HoraeError
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Job
from horae.domain.sources import Source
from horae.domain.tasks import Decision, Intent, Known
from horae.runtime.chance import mint, minting
from horae.runtime.telemetry import count
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.task_rounds import NEVER, Round
from horae.service.tasks import Answer
from horae.store import audit, repairs, task_batches
from horae.store.cells import Cell
from horae.store.repairs import Finding
from horae.store.tx import COLLIDED, Tx

TRIES: Final = 5
COUNTED: Final = {
    Decision.CREATED: "created",
    Decision.MOVED: "moved",
    Decision.REPLACED: "moved",
    Decision.CANCELLED: "cancelled",
}


class Mend(NamedTuple):
    """A difference that is to be repaired: what is wanted, and what was seen on our side."""

    found: Found
    shard: int
    key: str
    wanted: Wanted | None
    live: Living | None = None
    past: Past | None = None


async def mend(ctx: Context, cell: Cell, job: Job, source: Source, mends: Sequence[Mend]) -> list[str]:
    """Repair what is still as it was seen; returns what was done, by the name of its count."""
    if source.dry:
        await cell.run(lambda tx: _note(tx, source, mends, {}))
        return []
    given = any(one.wanted is not None and one.wanted.payload is not msgspec.UNSET for one in mends)
    key = await ctx.store.sealing.key(ctx.tenant.id) if given else None

    async def work(tx: Tx) -> dict[str, Answer]:
        done = await _repair(ctx, tx, job, mends, key)
        repaired = [one for one in mends if one.key in done]
        if repaired:
            await _note(tx, source, repaired, done)
            await _audit(ctx, tx, source, repaired, done)
        return done

    for left in reversed(range(TRIES)):
        try:
            done = await cell.run(work)
            break
        except COLLIDED:  # someone was first with a key; the next look sees it
            if not left:
                return []
    ctx.wakes.wake_all(cell, [(one.shard, one.wanted.at) for one in mends if one.key in done and one.wanted])
    named = [COUNTED[answer.decision] for answer in done.values()]
    for name in set(named):
        count(f"source.{name}", named.count(name), source=source.name)
    return named


async def _repair(ctx: Context, tx: Tx, job: Job, mends: Sequence[Mend], key: DataKey | None) -> dict[str, Answer]:
    seen = sorted((one.live for one in mends if one.live is not None), key=lambda live: (live.shard, live.id))
    locked = await repairs.lock(tx, seen) if seen else set()
    known = await task_batches.find(tx, job.id, [one.shard for one in mends], [one.key for one in mends])
    turn = Round(job, ctx.actor, tx.now, key, widenings=len(ctx.tenant.former))
    for one in mends:
        now = known.get(one.key, NEVER)
        if not _same(one, now, locked):
            continue
        if one.wanted is None:
            turn.cancel(one.shard, one.key, now, None)
        else:
            version = proven(one.wanted.version, now.ledger.intent_version if now.ledger else None)
            turn.put(one.shard, one.key, now, Intent(one.wanted.at, one.wanted.payload, version))
    written = await turn.write(tx)
    return {
        name: answer
        for name, answer in written.items()
        if not isinstance(answer, HoraeError) and answer.decision in COUNTED
    }


def _same(one: Mend, now: Known, locked: set[UUID]) -> bool:
    """Whether a key is as it was compared."""
    if one.live is not None:
        return now.live is not None and now.live.id == one.live.id and one.live.id in locked
    if now.live is not None:
        return False
    if one.past is None:
        return now.ledger is None
    return now.ledger is not None and now.ledger.generation == one.past.generation


async def _note(tx: Tx, source: Source, mends: Sequence[Mend], done: dict[str, Answer]) -> None:
    mint_ = minting(tx.now)
    findings = [
        Finding(
            one.shard,
            mint_(one.shard),
            one.key,
            one.found,
            done[one.key].decision if one.key in done else None,
            one.live.at if one.live else None,
            one.wanted.at if one.wanted else None,
        )
        for one in mends
    ]
    await repairs.append(tx, source.tenant_id, source.id, source.round, findings)


async def _audit(ctx: Context, tx: Tx, source: Source, repaired: Sequence[Mend], done: dict[str, Answer]) -> None:
    """One row for all repairs of a transaction; it names every key."""
    shard = repaired[0].shard
    keys: dict[str, list[str]] = {}
    for one in repaired:
        keys.setdefault(done[one.key].decision, []).append(one.key)
    await audit.append(
        tx,
        shard,
        mint(shard, tx.now),
        source.tenant_id,
        actor=ctx.actor,
        action="source.repaired",
        resource=public(Prefix.SOURCE, source.id),
        detail={"type": source.name, "round": source.round, **keys},
    )
