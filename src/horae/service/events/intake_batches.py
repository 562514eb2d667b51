"""Schedule changes that arrive by a topic: a batch becomes calls of the operations of tasks and subjects.

1. Of several messages about one business key in a batch only the highest version counts; the others would be stale.
2. A message that can never be applied is parked and does not block the rest.
3. An error that may pass is raised. The broker then delivers the batch again, which changes nothing twice.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from horae.domain.encryption.encrypted_values import parked_of
from horae.domain.errors import BadRequest, CountReached, HoraeError
from horae.domain.events.intakes import MAX_MESSAGE_BYTES, Op, ParkedMessage, TaskMessage, read
from horae.domain.foreign import read_text
from horae.domain.ids import shard_in
from horae.runtime.randomness import new_id
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.service.events.intakes import IntakeDetail
from horae.service.refusals import is_final
from horae.service.rolling.subject_changes import SubjectChange, apply_changes
from horae.service.tasks.batches import LARGEST, TaskIntent, cancel_many, schedule_many
from horae.store.events import parked_messages
from horae.store.tx import Tx

MOST_PARKED: Final = 10_000
"""Messages that may be parked of one tenant; then its intakes wait. The last batch may exceed the limit."""
MOST_PARKED_BYTES: Final = 256 * 2**20
"""Bytes, as stored, that the parked messages of one tenant may take; then its intakes wait."""
KEPT_MESSAGE_BYTES: Final = 1024
"""Bytes that are kept of a message that is too large to be a change."""
Many = Callable[[Context, str, Sequence[TaskMessage]], Awaitable[Sequence[object]]]
"""Applies messages of one type. Returns an answer for each; a refusal is a `HoraeError`."""


class IntakeMessage(NamedTuple):
    """A message and its position in the topic."""

    body: bytes
    place: str


class IntakeResult(NamedTuple):
    """How many messages of a batch were applied, and how many were parked."""

    changes: int
    parked: int


async def _schedule(ctx: Context, type_name: str, some: Sequence[TaskMessage]) -> Sequence[object]:
    return await schedule_many(ctx, type_name, [_intent(one) for one in some])


async def _cancel(ctx: Context, type_name: str, some: Sequence[TaskMessage]) -> Sequence[object]:
    return await cancel_many(ctx, type_name, [_intent(one) for one in some])


async def _change_subjects(ctx: Context, job_name: str, some: Sequence[TaskMessage]) -> Sequence[object]:
    changes = [SubjectChange(one.key, one.version, one.op is Op.ADD, one.at_once) for one in some]
    return await apply_changes(ctx, job_name, changes)


def _intent(message: TaskMessage) -> TaskIntent:
    return TaskIntent(message.key, message.at, message.payload, message.version)


OPERATIONS: Final[Mapping[Op, Many]] = {
    Op.SCHEDULE: _schedule,
    Op.MOVE: _schedule,
    Op.CANCEL: _cancel,
    Op.ADD: _change_subjects,
    Op.REMOVE: _change_subjects,
}


async def apply_batch(ctx: Context, detail: IntakeDetail, batch: Sequence[IntakeMessage]) -> IntakeResult:
    """Apply a batch. When it returns, everything is committed or parked; when it raises, a part may be committed.

    1. Read each message. Keep the highest version of each business key. Unreadable messages are bad.
    2. Group the changes by type and by operation (schedule, cancel, subjects); apply each in batches of `LARGEST`.
    3. Park the bad messages and the finally refused ones.
    """
    newest: dict[tuple[str, str, bool], tuple[TaskMessage, IntakeMessage]] = {}
    bad: list[tuple[IntakeMessage, HoraeError]] = []
    for message in batch:
        try:
            change = read(message.body, detail.intake)
        except BadRequest as error:
            bad.append((message, error))
            continue
        place = change.type, change.key, OPERATIONS[change.op] is _change_subjects
        known = newest.get(place)
        if known is None or known[0].version < change.version:
            newest[place] = change, message
    kinds: dict[tuple[str, Many], list[tuple[TaskMessage, IntakeMessage]]] = defaultdict(list)
    for change, message in newest.values():
        kinds[change.type, OPERATIONS[change.op]].append((change, message))
    for (type_name, many), some in kinds.items():
        for first in range(0, len(some), LARGEST):
            bad += await _apply_many(ctx, many, type_name, some[first : first + LARGEST])
    if bad:
        await park(ctx, detail, bad)
    return IntakeResult(len(batch) - len(bad), len(bad))


async def _apply_many(
    ctx: Context, many: Many, type_name: str, some: Sequence[tuple[TaskMessage, IntakeMessage]]
) -> list[tuple[IntakeMessage, HoraeError]]:
    """Apply changes of one type by one operation. Returns the messages that were finally refused, with the reason."""
    try:
        answers = await many(ctx, type_name, [change for change, _ in some])
    except HoraeError as error:
        _raise_if_passing(error)
        return [(message, error) for _, message in some]
    for answer in answers:
        if isinstance(answer, HoraeError):
            _raise_if_passing(answer)
    pairs = zip(some, answers, strict=True)
    return [(message, answer) for (_, message), answer in pairs if isinstance(answer, HoraeError)]


def _raise_if_passing(error: HoraeError) -> None:
    """Raise an error that may pass later; only final refusals are parked."""
    if not is_final(error):
        raise error


async def park(ctx: Context, detail: IntakeDetail, bad: Sequence[tuple[IntakeMessage, HoraeError]]) -> None:
    """Store messages encrypted, with the reason. Raises `CountReached` where the tenant has too many already."""
    shard, key = shard_in(ctx.tenant.id), await ctx.store.cipher.key(ctx.tenant.id)

    async def work(tx: Tx) -> None:
        await _check_room(tx, ctx)
        for message, error in bad:
            id_ = new_id(shard, tx.now)
            body = encrypt_value(key, parked_of(id_), _text_of(message.body))
            facts = (detail.channel.id, detail.channel.name, message.place, error.code, str(error)[:500], body)
            await parked_messages.park(
                tx, ctx.tenant.id, ParkedMessage(id_, tx.now, *facts), sha256(message.body).digest()
            )

    await ctx.store.run(shard, work)


async def check_room(ctx: Context) -> None:
    """Raise `CountReached` where the tenant may park no further message."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        await _check_room(tx, ctx)


async def _check_room(tx: Tx, ctx: Context) -> None:
    many, size = await parked_messages.usage(tx, ctx.tenant.id)
    if many >= MOST_PARKED or size >= MOST_PARKED_BYTES:
        raise CountReached(
            f"{many} messages are parked, {size} bytes, and no more can be: replay some or drop them",
            kind="parked",
            most=MOST_PARKED,
        )


def _text_of(body: bytes) -> str:
    """Returns a message as it is stored: whole, or the beginning of one that is too large to be a change."""
    if len(body) <= MAX_MESSAGE_BYTES:
        return read_text(body)
    return f"{read_text(body[:KEPT_MESSAGE_BYTES])} … ({len(body)} bytes, digest {sha256(body).hexdigest()})"


async def apply_one(ctx: Context, detail: IntakeDetail, message: IntakeMessage) -> None:
    """Apply one message. Raises the reason when it cannot be applied."""
    change = read(message.body, detail.intake)
    bad = await _apply_many(ctx, OPERATIONS[change.op], change.type, [(change, message)])
    if bad:
        raise bad[0][1]
