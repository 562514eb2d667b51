"""Many tasks of one type in one request. Each is decided as if it were the only one, and has its own answer.

1. The intents are grouped by cell. Each cell has one transaction per round: one statement reads the business keys, and
   one statement per kind of change writes them.
2. A key that changed between read and write is read and decided again in the next round.
3. A key that the batch names twice is decided in successive rounds, in the given order.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from horae.domain.errors import Contended, HoraeError, Invalid, ShardClosed, Unavailable
from horae.domain.jobs.jobs import Job
from horae.domain.tasks import tasks as rules
from horae.domain.tasks.tasks import Intent, KeyState
from horae.runtime.batch import halve
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.identity.bound_keys import find_type
from horae.service.tasks.batch_rounds import NEVER, TaskBatchRound
from horae.service.tasks.tasks import TRIES, ScheduleAnswer
from horae.service.tenants.places import REFUSED, refresh_tenant, shards_of_keys
from horae.store.connections.each_cell import UNSERVED
from horae.store.protocol import CellProtocol
from horae.store.tasks import batches
from horae.store.tx import BAD_ROW, COLLIDED, TRY_AGAIN, Tx

LARGEST: Final = 1000
"""Tasks in one batch at most."""


class TaskIntent(msgspec.Struct, frozen=True):
    """The request for one business key: the arguments of `tasks.schedule` or of `tasks.cancel`."""

    key: str
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


class PlacedIntent(NamedTuple):
    """An intent with its shard and its position in the batch. It sorts in the order in which rows are written."""

    shard: int
    key: str
    number: int
    wish: TaskIntent


Answers = dict[int, ScheduleAnswer | HoraeError]
Work = Callable[[Tx, Sequence[PlacedIntent]], Awaitable[list[tuple[int, ScheduleAnswer | HoraeError]]]]
Again = Callable[[Context, Sequence[TaskIntent]], Awaitable[list[ScheduleAnswer | HoraeError]]]


async def schedule_many(
    ctx: Context, type_name: str, wishes: Sequence[TaskIntent]
) -> list[ScheduleAnswer | HoraeError]:
    """Set the times of many business keys of a type. Returns an answer or a refusal for each of them."""
    job = await find_type(ctx, type_name)
    answers = await _answer_all(ctx, job, wishes, await _scheduling(ctx, job, wishes))
    return await _retry_undecided(ctx, wishes, answers, lambda ctx, some: schedule_many(ctx, type_name, some))


async def schedule_in_cell(ctx: Context, job: Job, cell: CellProtocol, asked: Sequence[PlacedIntent]) -> Answers:
    """Set the times of business keys whose cell is known. Returns an answer or a refusal for each number."""
    return await _in_cell(ctx, cell, asked, await _scheduling(ctx, job, [one.wish for one in asked]))


async def _scheduling(ctx: Context, job: Job, wishes: Sequence[TaskIntent]) -> Work:
    """Returns the work of one round: read the keys, decide, and write. It has the data key that the payloads need."""
    given = any(wish.payload is not msgspec.UNSET and wish.payload is not None for wish in wishes)
    data_key = await ctx.store.cipher.key(ctx.tenant.id) if given else None

    async def work(tx: Tx, asked: Sequence[PlacedIntent]) -> list[tuple[int, ScheduleAnswer | HoraeError]]:
        known, turn, now = await _find(tx, job, asked), _round_of(ctx, job, tx, data_key), tx.now
        for shard, key, _, wish in asked:
            at = now if wish.at is None else wish.at.astimezone(UTC)
            turn.put(shard, key, known.get(key, NEVER), Intent(at, wish.payload, wish.version))
        return _numbered(asked, await turn.write(tx))

    return work


async def cancel_many(ctx: Context, type_name: str, wishes: Sequence[TaskIntent]) -> list[ScheduleAnswer | HoraeError]:
    """Cancel the tasks of many business keys. Returns an answer or a refusal for each of them."""
    job = await find_type(ctx, type_name)

    async def work(tx: Tx, asked: Sequence[PlacedIntent]) -> list[tuple[int, ScheduleAnswer | HoraeError]]:
        known, turn = await _find(tx, job, asked), _round_of(ctx, job, tx)
        for shard, key, _, wish in asked:
            turn.cancel(shard, key, known.get(key, NEVER), wish.version)
        return _numbered(asked, await turn.write(tx))

    answers = await _answer_all(ctx, job, wishes, work)
    return await _retry_undecided(ctx, wishes, answers, lambda ctx, some: cancel_many(ctx, type_name, some))


async def _retry_undecided(
    ctx: Context, wishes: Sequence[TaskIntent], answers: list[ScheduleAnswer | HoraeError], again: Again
) -> list[ScheduleAnswer | HoraeError]:
    """Ask again for the undecided intents, where the tenant was widened in the meantime."""
    left = [number for number, answer in enumerate(answers) if isinstance(answer, REFUSED)]
    anew = await refresh_tenant(ctx) if left else None
    if anew is not None:
        for number, answer in zip(left, await again(anew, [wishes[number] for number in left]), strict=True):
            answers[number] = answer
    return answers


def _round_of(ctx: Context, job: Job, tx: Tx, data_key: DataKey | None = None) -> TaskBatchRound:
    return TaskBatchRound(job, ctx.actor, tx.now, data_key, widenings=len(ctx.tenant.former))


async def _find(tx: Tx, job: Job, asked: Sequence[PlacedIntent]) -> dict[str, KeyState]:
    return await batches.find(tx, job.id, [one.shard for one in asked], [one.key for one in asked])


def _numbered(
    asked: Sequence[PlacedIntent], answers: dict[str, ScheduleAnswer | HoraeError]
) -> list[tuple[int, ScheduleAnswer | HoraeError]]:
    return [(one.number, answers[one.key]) for one in asked if one.key in answers]


async def _answer_all(
    ctx: Context, job: Job, wishes: Sequence[TaskIntent], work: Work
) -> list[ScheduleAnswer | HoraeError]:
    """Ask all cells at the same time, each for its part, and return the answers in the order of the intents."""
    if len(wishes) > LARGEST:
        raise Invalid(f"a batch holds at most {LARGEST} tasks, not {len(wishes)}")
    answers: Answers = {}
    parts: dict[CellProtocol, list[PlacedIntent]] = {}
    good = [(number, wish) for number, wish in enumerate(wishes) if not _refused(number, wish, answers)]
    shards = {} if job.single else await shards_of_keys(ctx, job, [wish.key for _, wish in good])
    for number, wish in good:
        shard, key = (job.shard, rules.OWN_KEY) if job.single else (shards[wish.key], wish.key)
        try:
            parts.setdefault(ctx.store.cell(shard), []).append(PlacedIntent(shard, key, number, wish))
        except ShardClosed as refusal:
            answers[number] = refusal
    for part in await asyncio.gather(*(_in_cell(ctx, cell, asked, work) for cell, asked in parts.items())):
        answers |= part
    return [answers[number] for number in range(len(wishes))]


def _refused(number: int, wish: TaskIntent, answers: Answers) -> bool:
    try:
        rules.check_time(wish.at)
        rules.check_payload(wish.payload)
        rules.check_key(wish.key)
    except HoraeError as refusal:
        answers[number] = refusal
        return True
    return False


async def _in_cell(ctx: Context, cell: CellProtocol, asked: Sequence[PlacedIntent], work: Work) -> Answers:
    """Decide the intents of one cell, round by round.

    1. A round has at most one intent per business key.
    2. A round without any answer means that others changed the keys. After `TRIES` such rounds in a row the rest is
       refused as contended.
    3. A cell that stops answering refuses the rest as unavailable; answers of earlier rounds stay.
    """
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


def _first_of_each_key(asked: Sequence[PlacedIntent]) -> tuple[list[PlacedIntent], list[PlacedIntent]]:
    """Returns the intents to decide now, in row order, and the intents behind an earlier intent of their key."""
    first: dict[str, PlacedIntent] = {}
    later = [one for one in asked if first.setdefault(one.key, one) is not one]
    return sorted(first.values()), later  # by shard and key, which no two share


async def _round(cell: CellProtocol, asked: Sequence[PlacedIntent], work: Work) -> Answers:
    """Run one transaction. Where a row is at fault, split the batch in halves until that row is alone."""

    async def run(rows: Sequence[PlacedIntent]) -> list[tuple[int, ScheduleAnswer | HoraeError]]:
        try:
            return await cell.run(lambda tx: work(tx, rows))
        except (*COLLIDED, *TRY_AGAIN):
            return []  # another writer was first with a key: nothing was written, and the next round reads its row

    done = await halve(asked, run, BAD_ROW)
    refused = {bad.row.number: Invalid(f"the database refused it: {bad.reason}") for bad in done.refused}
    return dict(done.results) | refused


def _wake(ctx: Context, cell: CellProtocol, asked: Sequence[PlacedIntent], found: Answers) -> None:
    answers = [(one.shard, found.get(one.number)) for one in asked]
    ctx.wakes.wake_all(cell, [(shard, got.at) for shard, got in answers if isinstance(got, ScheduleAnswer) and got.at])
