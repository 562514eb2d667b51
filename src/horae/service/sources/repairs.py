"""Compares a span of a source's list with our tasks, and repairs the differences.

A repair is decided and written like any intent, in one transaction with its audit row and its finding. A task that
changed since the comparison, or is changing now, is left alone: that change is newer than the list.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.errors import Invalid
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import (
    ComparedTask,
    Comparison,
    DifferenceKind,
    KeyHistory,
    LeftReason,
    ListedTask,
    compare,
    judge_drifted,
    judge_missing,
    judge_orphan,
)
from horae.domain.sources.sources import RoundCounts, TaskSource
from horae.domain.tasks.tasks import check_key, check_payload, check_time
from horae.runtime.telemetry import count
from horae.service.context import Context
from horae.service.sources.cell_repairs import PlannedRepair, repair_in_cell
from horae.service.tenants.places import shards_of_keys
from horae.store.protocol import CellProtocol
from horae.store.sources import repairs

MOST: Final = 20_000
"""Live tasks that one read of a cell returns at most; a span with more is compared in parts."""
BATCH: Final = 500
"""Repairs in one transaction at most."""
MAX_LISTED: Final = 10_000
"""Findings that a dry round writes at most; it counts all of them."""
REAL: Final = frozenset({None, LeftReason.KEPT, LeftReason.TOO_MANY})
"""Judgements of a real difference: None (repair it), or a reason that only forbids the repair."""


class SpanProgress(NamedTuple):
    """The key up to which a span was compared, and the counts of the round."""

    key: str
    counts: RoundCounts


class SourceSpan(NamedTuple):
    """The items that a source lists behind one key and up to another, and a time before they were read."""

    after: str
    upto: str
    listed: Sequence[ListedTask]
    read_at: datetime


class KeyFacts(NamedTuple):
    """Facts about keys without a live task: their shards and their history. A change after `still` counts as recent."""

    shards: dict[str, int]
    past: dict[str, KeyHistory]
    still: datetime


def now_of(ctx: Context) -> datetime:
    """Returns the earliest time of all cell clocks. A list that is read from now on is not older than this time."""
    return min(cell.clock.now() for cell in ctx.store.cells if cell.clock.was_read)


async def reconcile(ctx: Context, job: Job, source: TaskSource, span: SourceSpan, before: RoundCounts) -> SpanProgress:
    """Compare a span, or as much of it as one read returns, and repair it. A dry round only writes its findings.

    `before` has the counts of the round so far. The result includes them.
    """
    ours, reached = await _live_tasks(ctx, job, span.after, span.upto)
    first, last = (bisect_right(span.listed, key, key=lambda one: one.key) for key in (span.after, reached))
    listed, refused = _valid_items(span.listed[first:last])
    found = compare(listed, ours)
    shards = await shards_of_keys(ctx, job, [one.key for one in found.missing])
    past = await _ledgers(ctx, job, shards)
    facts = KeyFacts(shards, past, span.read_at - timedelta(seconds=source.spec.grace))
    seen: Counter[str] = Counter(rows=len(listed) + refused, refused=refused, living=len(ours))
    repairs_due = _repairs_of(job, source, found, facts, before.cancelled, seen)
    if source.dry:
        repairs_due = repairs_due[: max(0, MAX_LISTED - before.drift)]
    for mended in await _repair_all(ctx, job, source, repairs_due):
        seen[mended] += 1
    count("source.drift", seen["missing"] + seen["drifted"] + seen["orphans"], source=source.name)
    count("source.dead", seen["dead"], source=source.name)
    return SpanProgress(reached, before.plus(seen))


def _valid_items(listed: Sequence[ListedTask]) -> tuple[Sequence[ListedTask], int]:
    """Returns the items that can be tasks, and how many cannot: one bad item must not block the others."""
    good = [one for one in listed if _fits(one)]
    return good, len(listed) - len(good)


def _fits(one: ListedTask) -> bool:
    try:
        check_key(one.key)
        check_time(one.at)
        check_payload(one.payload)
    except Invalid:
        return False
    return True


def _repairs_of(
    job: Job, source: TaskSource, found: Comparison, facts: KeyFacts, cancelled: int, seen: Counter[str]
) -> list[PlannedRepair]:
    """Returns the differences to repair. Counts every difference by its kind, and every one that is left by its reason.

    1. The domain judges each missing, drifted and orphaned key: None means repair, else it gives a reason to leave it.
    2. A difference counts as real when it is repaired, or when its reason is in `REAL`.
    3. A round cancels at most `most_cancelled` orphans; the rest has the reason TOO_MANY.
    4. A dry round returns all real differences, because it repairs nothing and only records them.
    """
    repairs_due: list[PlannedRepair] = []
    room = source.spec.most_cancelled - cancelled

    def take(why: LeftReason | None, differs: str, one: PlannedRepair) -> None:
        holds = why in REAL
        seen[differs] += holds
        if why is not None:
            seen[why] += 1
        if why is None or (source.dry and holds):
            repairs_due.append(one)

    for wanted in found.missing:
        past = facts.past.get(wanted.key)
        why = judge_missing(wanted, past, job.definition.after_success, facts.still)
        take(
            why,
            "missing",
            PlannedRepair(DifferenceKind.MISSING, facts.shards[wanted.key], wanted.key, wanted, None, past),
        )
    for wanted, live in found.drifted:
        take(
            judge_drifted(wanted, live, facts.still),
            "drifted",
            PlannedRepair(DifferenceKind.DRIFTED, live.shard, live.key, wanted, live),
        )
    for live in found.orphans:
        why = judge_orphan(live, source.spec.orphans, facts.still)
        if why is None and (room := room - 1) < 0:
            why = LeftReason.TOO_MANY
        take(why, "orphans", PlannedRepair(DifferenceKind.ORPHAN, live.shard, live.key, None, live))
    return repairs_due


async def _repair_all(ctx: Context, job: Job, source: TaskSource, repairs_due: Sequence[PlannedRepair]) -> list[str]:
    """Repair cell by cell, in batches. Returns the name of a count for each repair."""
    parts: dict[CellProtocol, list[PlannedRepair]] = {}
    for one in sorted(repairs_due, key=lambda one: (one.shard, one.key)):
        parts.setdefault(ctx.store.cell(one.shard), []).append(one)
    done: list[str] = []
    for cell, part in parts.items():
        for first in range(0, len(part), BATCH):
            done += await repair_in_cell(ctx, cell, job, source, part[first : first + BATCH])
    return done


async def _live_tasks(ctx: Context, job: Job, after: str, upto: str) -> tuple[list[ComparedTask], str]:
    """Returns our live tasks of a span, and the key up to which they are complete."""
    found: list[ComparedTask] = []
    reached = upto
    for cell, shards in _places(ctx, job).items():
        async with cell.statement() as tx:
            part = await repairs.live_tasks(tx, shards, job.id, after, reached, MOST)
        found += part
        if len(part) == MOST:
            reached = part[-1].key
    return [one for one in found if one.key <= reached], reached


async def _ledgers(ctx: Context, job: Job, shards: dict[str, int]) -> dict[str, KeyHistory]:
    parts: dict[CellProtocol, list[str]] = {}
    for key in sorted(shards, key=lambda key: (shards[key], key)):
        parts.setdefault(ctx.store.cell(shards[key]), []).append(key)
    found: dict[str, KeyHistory] = {}
    for cell, keys in parts.items():
        async with cell.statement() as tx:
            found |= await repairs.ledgers(tx, job.id, [shards[key] for key in keys], keys)
    return found


def _places(ctx: Context, job: Job) -> dict[CellProtocol, list[int]]:
    parts: dict[CellProtocol, list[int]] = {}
    for shard in ctx.tenant.shards(job.definition.width):
        parts.setdefault(ctx.store.cell(shard), []).append(shard)
    return parts
