"""Many tasks of one type at once. Each is decided as if it had come alone, and has its own answer.

What lies in one cell is read by one statement and written by one a kind of change, in one transaction. A key that
moved meanwhile is read and decided again in the next one; so is a key that was named twice, in the order given.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from horae.domain import tasks as rules
from horae.domain.errors import Contended, HoraeError, Invalid, ShardClosed, Unavailable
from horae.domain.jobs import Job
from horae.domain.tasks import Intent, Known
from horae.runtime.batch import halve
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.places import REFUSED, renewed, shards_of_keys
from horae.service.task_rounds import NEVER, Round
from horae.service.tasks import TRIES, Answer
from horae.store import task_batches
from horae.store.cells import Cell
from horae.store.each import UNSERVED
from horae.store.tx import BAD_ROW, COLLIDED, TRY_AGAIN, Tx

LARGEST: Final = 1000


class Wish(msgspec.Struct, frozen=True):
    """What is asked for one key: the arguments of `tasks.schedule`, or of `tasks.cancel`."""

    key: str
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


class Asked(NamedTuple):
    """A wish with its place in the cells and in the batch, in the order in which rows are written."""

    shard: int
    key: str
    number: int
    wish: Wish


Answers = dict[int, Answer | HoraeError]
Work = Callable[[Tx, Sequence[Asked]], Awaitable[list[tuple[int, Answer | HoraeError]]]]
Again = Callable[[Context, Sequence[Wish]], Awaitable[list[Answer | HoraeError]]]


async def schedule_many(ctx: Context, type_name: str, wishes: Sequence[Wish]) -> list[Answer | HoraeError]:
    """Set the times of many keys of a type: for each its answer, or the refusal it would have met alone."""
    job = await ctx.types.find(ctx.tenant, type_name)
    given = any(wish.payload is not msgspec.UNSET and wish.payload is not None for wish in wishes)
    sealing = await ctx.store.sealing.key(ctx.tenant.id) if given else None

    async def work(tx: Tx, asked: Sequence[Asked]) -> list[tuple[int, Answer | HoraeError]]:
        known, turn, now = await _find(tx, job, asked), _round_of(ctx, job, tx, sealing), tx.now
        for shard, key, _, wish in asked:
            at = now if wish.at is None else wish.at.astimezone(UTC)
            turn.put(shard, key, known.get(key, NEVER), Intent(at, wish.payload, wish.version))
        return _numbered(asked, await turn.write(tx))

    answers = await _answer_all(ctx, job, wishes, work)
    return await _once_more(ctx, wishes, answers, lambda ctx, some: schedule_many(ctx, type_name, some))


async def cancel_many(ctx: Context, type_name: str, wishes: Sequence[Wish]) -> list[Answer | HoraeError]:
    """Many keys' tasks are no longer wanted: for each its answer, or the refusal it would have met alone."""
    job = await ctx.types.find(ctx.tenant, type_name)

    async def work(tx: Tx, asked: Sequence[Asked]) -> list[tuple[int, Answer | HoraeError]]:
        known, turn = await _find(tx, job, asked), _round_of(ctx, job, tx)
        for shard, key, _, wish in asked:
            turn.cancel(shard, key, known.get(key, NEVER), wish.version)
        return _numbered(asked, await turn.write(tx))

    answers = await _answer_all(ctx, job, wishes, work)
    return await _once_more(ctx, wishes, answers, lambda ctx, some: cancel_many(ctx, type_name, some))


async def _once_more(
    ctx: Context, wishes: Sequence[Wish], answers: list[Answer | HoraeError], again: Again
) -> list[Answer | HoraeError]:
    """Ask again for those that nobody could decide, where the tenant was widened meanwhile."""
    left = [number for number, answer in enumerate(answers) if isinstance(answer, REFUSED)]
    anew = await renewed(ctx) if left else None
    if anew is not None:
        for number, answer in zip(left, await again(anew, [wishes[number] for number in left]), strict=True):
            answers[number] = answer
    return answers


def _round_of(ctx: Context, job: Job, tx: Tx, sealing: DataKey | None = None) -> Round:
    return Round(job, ctx.actor, tx.now, sealing, widenings=len(ctx.tenant.former))


async def _find(tx: Tx, job: Job, asked: Sequence[Asked]) -> dict[str, Known]:
    return await task_batches.find(tx, job.id, [one.shard for one in asked], [one.key for one in asked])


def _numbered(asked: Sequence[Asked], answers: dict[str, Answer | HoraeError]) -> list[tuple[int, Answer | HoraeError]]:
    return [(one.number, answers[one.key]) for one in asked if one.key in answers]


async def _answer_all(ctx: Context, job: Job, wishes: Sequence[Wish], work: Work) -> list[Answer | HoraeError]:
    """Ask each cell for its part, all at once, and put the answers in the order of the wishes."""
    if len(wishes) > LARGEST:
        raise Invalid(f"a batch holds at most {LARGEST} tasks, not {len(wishes)}")
    answers: Answers = {}
    parts: dict[Cell, list[Asked]] = {}
    good = [(number, wish) for number, wish in enumerate(wishes) if not _refused(number, wish, answers)]
    shards = {} if job.single else await shards_of_keys(ctx, job, [wish.key for _, wish in good])
    for number, wish in good:
        shard, key = (job.shard, rules.OWN_KEY) if job.single else (shards[wish.key], wish.key)
        try:
            parts.setdefault(ctx.store.cell(shard), []).append(Asked(shard, key, number, wish))
        except ShardClosed as refusal:
            answers[number] = refusal
    for part in await asyncio.gather(*(_in_cell(ctx, cell, asked, work) for cell, asked in parts.items())):
        answers |= part
    return [answers[number] for number in range(len(wishes))]


def _refused(number: int, wish: Wish, answers: Answers) -> bool:
    try:
        rules.check_time(wish.at)
        rules.check_payload(wish.payload)
        rules.check_key(wish.key)
    except HoraeError as refusal:
        answers[number] = refusal
        return True
    return False


async def _in_cell(ctx: Context, cell: Cell, asked: Sequence[Asked], work: Work) -> Answers:
    """Round after round, until every key has its answer or nothing moves any more."""
    answers: Answers = {}
    rest, idle = list(asked), 0
    while rest and idle < TRIES:
        first, later = _first_of_each_key(rest)
        try:
            found = await _round(cell, first, work)
        except UNSERVED as error:
            away = Unavailable(f"its cell did not answer ({type(error).__name__}); ask again, whatever became of it")
            return answers | {one.number: away for one in rest}
        _wake(ctx, cell, first, found)
        idle = 0 if found else idle + 1
        answers |= found
        rest = [one for one in first if one.number not in found] + later
    tired = Contended("the key kept changing; nothing was decided, ask again")
    return answers | {one.number: tired for one in rest}


def _first_of_each_key(asked: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """What may be decided now, in the order of the rows, and what has to wait for an earlier wish of its key."""
    first: dict[str, Asked] = {}
    later = [one for one in asked if first.setdefault(one.key, one) is not one]
    return sorted(first.values()), later  # by shard and key: no two are alike in both


async def _round(cell: Cell, asked: Sequence[Asked], work: Work) -> Answers:
    """One transaction; where a row is at fault its halves, until that row stands alone."""

    async def run(rows: Sequence[Asked]) -> list[tuple[int, Answer | HoraeError]]:
        try:
            return await cell.run(lambda tx: work(tx, rows))
        except (*COLLIDED, *TRY_AGAIN):
            return []  # someone was first with one of the keys: nothing was written, and the next round sees it

    done = await halve(asked, run, BAD_ROW)
    refused = {bad.row.number: Invalid(f"the database refused it: {bad.reason}") for bad in done.refused}
    return dict(done.results) | refused


def _wake(ctx: Context, cell: Cell, asked: Sequence[Asked], found: Answers) -> None:
    answers = [(one.shard, found.get(one.number)) for one in asked]
    ctx.wakes.wake_all(cell, [(shard, got.at) for shard, got in answers if isinstance(got, Answer) and got.at])
