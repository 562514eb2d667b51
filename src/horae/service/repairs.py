"""Lays a span of what a source lists beside our tasks, and repairs what differs.

A repair is decided and written like any intent, in one transaction with its audit row and its finding. What has changed
since it was compared, or is changing just now, is left alone: whoever did that was later than the list.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.comparisons import (
    Compared,
    Found,
    Left,
    Living,
    Past,
    Wanted,
    compare,
    judge_drifted,
    judge_missing,
    judge_orphan,
)
from horae.domain.errors import Invalid
from horae.domain.jobs import Job
from horae.domain.sources import Counts, Source
from horae.domain.tasks import check_key, check_payload, check_time
from horae.runtime.telemetry import count
from horae.service.context import Context
from horae.service.places import shards_of_keys
from horae.service.repairing import Mend, mend
from horae.store import repairs
from horae.store.cells import Cell

MOST: Final = 20_000
"""Live tasks read at once from a cell; a span that holds more is compared in parts."""
BATCH: Final = 500
SHOWN: Final = 10_000
"""How many findings a dry round writes down; it counts them all."""
REAL: Final = frozenset({None, Left.KEPT, Left.TOO_MANY})
"""What is a difference, whether or not something may be done about it."""


class Reached(NamedTuple):
    """How far a span was compared, and what was seen."""

    key: str
    counts: Counts


class Span(NamedTuple):
    """What a source lists behind one key and up to another, and when it was read at the latest."""

    after: str
    upto: str
    listed: Sequence[Wanted]
    read_at: datetime


class Facts(NamedTuple):
    """What is known of keys without a live task: their shards, their past, and since when it counts as recent."""

    shards: dict[str, int]
    past: dict[str, Past]
    still: datetime


def now_of(ctx: Context) -> datetime:
    """The time that no cell has yet passed: what is read after it may be older than nothing that changed before it."""
    return min(cell.clock.now() for cell in ctx.store.cells if cell.clock.was_read)


async def reconcile(ctx: Context, job: Job, source: Source, span: Span, before: Counts) -> Reached:
    """Compare a span, or as much of it as is read at once, and repair it; a dry round only writes down what it finds.

    `before`: what the round has seen so far; what is returned has this span in it.
    """
    ours, reached = await _living(ctx, job, span.after, span.upto)
    first, last = (bisect_right(span.listed, key, key=lambda one: one.key) for key in (span.after, reached))
    listed, refused = _good(span.listed[first:last])
    found = compare(listed, ours)
    shards = await shards_of_keys(ctx, job, [one.key for one in found.missing])
    past = await _ledgers(ctx, job, shards)
    facts = Facts(shards, past, span.read_at - timedelta(seconds=source.spec.grace))
    seen: Counter[str] = Counter(rows=len(listed) + refused, refused=refused, living=len(ours))
    mends = _judged(job, source, found, facts, before.cancelled, seen)
    if source.dry:
        mends = mends[: max(0, SHOWN - before.drift)]
    for mended in await _mend_all(ctx, job, source, mends):
        seen[mended] += 1
    count("source.drift", seen["missing"] + seen["drifted"] + seen["orphans"], source=source.name)
    count("source.dead", seen["dead"], source=source.name)
    return Reached(reached, before.plus(seen))


def _good(listed: Sequence[Wanted]) -> tuple[Sequence[Wanted], int]:
    """Those that can be tasks, and how many cannot: one bad row of theirs must not stop all others."""
    good = [one for one in listed if _fits(one)]
    return good, len(listed) - len(good)


def _fits(one: Wanted) -> bool:
    try:
        check_key(one.key)
        check_time(one.at)
        check_payload(one.payload)
    except Invalid:
        return False
    return True


def _judged(job: Job, source: Source, found: Compared, facts: Facts, cancelled: int, seen: Counter[str]) -> list[Mend]:
    """What is to be done; every difference is counted, and what is left by its reason."""
    mends: list[Mend] = []
    room = source.spec.most_cancelled - cancelled

    def take(why: Left | None, differs: str, one: Mend) -> None:
        holds = why in REAL
        seen[differs] += holds
        if why is not None:
            seen[why] += 1
        if why is None or (source.dry and holds):
            mends.append(one)

    for wanted in found.missing:
        past = facts.past.get(wanted.key)
        why = judge_missing(wanted, past, job.definition.after_success, facts.still)
        take(why, "missing", Mend(Found.MISSING, facts.shards[wanted.key], wanted.key, wanted, None, past))
    for wanted, live in found.drifted:
        take(
            judge_drifted(wanted, live, facts.still), "drifted", Mend(Found.DRIFTED, live.shard, live.key, wanted, live)
        )
    for live in found.orphans:
        why = judge_orphan(live, source.spec.orphans, facts.still)
        if why is None and (room := room - 1) < 0:
            why = Left.TOO_MANY
        take(why, "orphans", Mend(Found.ORPHAN, live.shard, live.key, None, live))
    return mends


async def _mend_all(ctx: Context, job: Job, source: Source, mends: Sequence[Mend]) -> list[str]:
    """Cell by cell, in batches; returns what was done, by the name of its count."""
    parts: dict[Cell, list[Mend]] = {}
    for one in sorted(mends, key=lambda one: (one.shard, one.key)):
        parts.setdefault(ctx.store.cell(one.shard), []).append(one)
    done: list[str] = []
    for cell, part in parts.items():
        for first in range(0, len(part), BATCH):
            done += await mend(ctx, cell, job, source, part[first : first + BATCH])
    return done


async def _living(ctx: Context, job: Job, after: str, upto: str) -> tuple[list[Living], str]:
    """Our side of a span, and up to which key it is whole."""
    found: list[Living] = []
    reached = upto
    for cell, shards in _places(ctx, job).items():
        async with cell.statement() as tx:
            part = await repairs.living(tx, shards, job.id, after, reached, MOST)
        found += part
        if len(part) == MOST:
            reached = part[-1].key
    return [one for one in found if one.key <= reached], reached


async def _ledgers(ctx: Context, job: Job, shards: dict[str, int]) -> dict[str, Past]:
    parts: dict[Cell, list[str]] = {}
    for key in sorted(shards, key=lambda key: (shards[key], key)):
        parts.setdefault(ctx.store.cell(shards[key]), []).append(key)
    found: dict[str, Past] = {}
    for cell, keys in parts.items():
        async with cell.statement() as tx:
            found |= await repairs.ledgers(tx, job.id, [shards[key] for key in keys], keys)
    return found


def _places(ctx: Context, job: Job) -> dict[Cell, list[int]]:
    parts: dict[Cell, list[int]] = {}
    for shard in ctx.tenant.shards(job.definition.width):
        parts.setdefault(ctx.store.cell(shard), []).append(shard)
    return parts
