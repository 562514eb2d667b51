"""Schedule changes that came by a topic: a batch becomes the verbs that a caller would have used.

Of what one key is told in a batch the highest version counts; the rest would be stale. What can never be done is
parked, and holds nobody back. What cannot be done just now is raised: the batch is given out again, and changes nothing
twice.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from horae.domain.errors import BadRequest, CountReached, HoraeError
from horae.domain.foreign import read_text
from horae.domain.ids import shard_in
from horae.domain.intakes import LARGEST as LARGEST_MESSAGE
from horae.domain.intakes import Change, Op, Parked, read
from horae.domain.sealed import parked_of
from horae.runtime.chance import mint
from horae.security.sealing import seal
from horae.service.context import Context
from horae.service.intakes import Standing
from horae.service.refusals import is_final
from horae.service.task_batches import LARGEST, Wish, cancel_many, schedule_many
from horae.service.tasks import Answer
from horae.store import parked
from horae.store.tx import Tx

MOST_PARKED: Final = 10_000
"""Messages of a tenant, and the bytes they take as stored: then its intakes wait. A batch may pass the bound."""
MOST_PARKED_BYTES: Final = 256 * 2**20
CUT_BYTES: Final = 1024
"""What is kept of a message that is too large to be a change."""
Many = Callable[[Context, str, Sequence[Wish]], Awaitable[list[Answer | HoraeError]]]


class Came(NamedTuple):
    """A message, and where it lay."""

    body: bytes
    place: str


class Done(NamedTuple):
    """What a batch came to."""

    changes: int
    parked: int


async def take(ctx: Context, standing: Standing, batch: Sequence[Came]) -> Done:
    """Do what a batch says. When this returns it is committed, or parked; when it raises it may be done in part."""
    newest: dict[tuple[str, str], tuple[Change, Came]] = {}
    bad: list[tuple[Came, HoraeError]] = []
    for came in batch:
        try:
            change = read(came.body, standing.intake)
        except BadRequest as error:
            bad.append((came, error))
            continue
        known = newest.get((change.type, change.key))
        if known is None or known[0].version < change.version:
            newest[change.type, change.key] = change, came
    kinds: dict[tuple[str, bool], list[tuple[Change, Came]]] = defaultdict(list)
    for change, came in newest.values():
        kinds[change.type, change.op is Op.CANCEL].append((change, came))
    for (type_name, cancels), some in kinds.items():
        for first in range(0, len(some), LARGEST):
            many = cancel_many if cancels else schedule_many
            bad += await _tell_many(ctx, many, type_name, some[first : first + LARGEST])
    if bad:
        await park(ctx, standing, bad)
    return Done(len(batch) - len(bad), len(bad))


async def _tell_many(
    ctx: Context, many: Many, type_name: str, some: Sequence[tuple[Change, Came]]
) -> list[tuple[Came, HoraeError]]:
    wishes = [Wish(one.key, one.at, one.payload, one.version) for one, _ in some]
    try:
        answers = await many(ctx, type_name, wishes)
    except HoraeError as error:
        _raise_if_passing(error)
        return [(came, error) for _, came in some]
    for answer in answers:
        if isinstance(answer, HoraeError):
            _raise_if_passing(answer)
    pairs = zip(some, answers, strict=True)
    return [(came, answer) for (_, came), answer in pairs if isinstance(answer, HoraeError)]


def _raise_if_passing(error: HoraeError) -> None:
    """What may pass is not parked."""
    if not is_final(error):
        raise error


async def park(ctx: Context, standing: Standing, bad: Sequence[tuple[Came, HoraeError]]) -> None:
    """Put messages aside, sealed, with the reason. Raises `CountReached` where the tenant has too many already."""
    shard, key = shard_in(ctx.tenant.id), await ctx.store.sealing.key(ctx.tenant.id)

    async def work(tx: Tx) -> None:
        await _check_room(tx, ctx)
        for came, error in bad:
            id_ = mint(shard, tx.now)
            body = seal(key, parked_of(id_), _text_of(came.body))
            facts = (standing.channel.id, standing.channel.name, came.place, error.code, str(error)[:500], body)
            await parked.park(tx, ctx.tenant.id, Parked(id_, tx.now, *facts), sha256(came.body).digest())

    await ctx.store.run(shard, work)


async def check_room(ctx: Context) -> None:
    """Raise `CountReached` where no further message of the tenant can be parked."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        await _check_room(tx, ctx)


async def _check_room(tx: Tx, ctx: Context) -> None:
    many, size = await parked.held(tx, ctx.tenant.id)
    if many >= MOST_PARKED or size >= MOST_PARKED_BYTES:
        raise CountReached(
            f"{many} messages are parked, {size} bytes, and no more can be: replay some or drop them",
            kind="parked",
            most=MOST_PARKED,
        )


def _text_of(body: bytes) -> str:
    """A message as it is kept: the beginning of one that is too large to be a change."""
    if len(body) <= LARGEST_MESSAGE:
        return read_text(body)
    return f"{read_text(body[:CUT_BYTES])} … ({len(body)} bytes, digest {sha256(body).hexdigest()})"


async def tell_one(ctx: Context, standing: Standing, came: Came) -> None:
    """Do what one message says; raises why it cannot be done."""
    change = read(came.body, standing.intake)
    many = cancel_many if change.op is Op.CANCEL else schedule_many
    bad = await _tell_many(ctx, many, change.type, [(change, came)])
    if bad:
        raise bad[0][1]
