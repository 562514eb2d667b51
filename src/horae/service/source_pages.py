"""What a business pushes of its list, page by page, compared as it comes."""

from collections.abc import Sequence

import msgspec

from horae.domain.comparisons import Wanted, check_order
from horae.domain.errors import Conflict, Contended, Invalid
from horae.domain.jobs import Job
from horae.domain.sources import FIRST, LAST, Counts, PushSource, Source
from horae.service import repairs
from horae.service.context import Context
from horae.service.repairs import Span
from horae.service.sources import check_going, found_in
from horae.store import sources

LARGEST = 1000
LONGEST_ROUND = 100


class Pushed(msgspec.Struct, frozen=True):
    """A page of a round: what is listed behind the last key of the page before, and whether this is the end."""

    round: str
    items: Sequence[Wanted]
    after: str = FIRST
    last: bool = False
    dry: bool = False


class Taken(msgspec.Struct, frozen=True):
    """What came of a page: up to which key the round has come, and what it has seen so far."""

    number: int
    reached: str
    ended: bool
    counts: Counts


async def push(ctx: Context, type_name: str, page: Pushed) -> Taken:
    """Compare a page and repair what differs. Pages of a round come one after the other; the same one again is fine."""
    _check(page)
    read_at = repairs.now_of(ctx)
    job = await ctx.types.find(ctx.tenant, type_name)
    source, counts = await _turn(ctx, job, page)
    upto = LAST if page.last else page.items[-1].key
    while source.after < upto:
        span = Span(source.after, upto, page.items, read_at)
        reached, counts = await repairs.reconcile(ctx, job, source, span, counts)
        source = await _advance(ctx, source, counts, reached)
    return Taken(source.round, source.after, not source.running, counts)


def _check(page: Pushed) -> None:
    if not 0 < len(page.round) <= LONGEST_ROUND:
        raise Invalid(f"a round has a name of 1 to {LONGEST_ROUND} characters")
    if len(page.items) > LARGEST:
        raise Invalid(f"a page holds at most {LARGEST} items, not {len(page.items)}")
    if not page.items and not page.last:
        raise Invalid("a page without items is the last one")
    check_order([one.key for one in page.items], page.after)


async def _turn(ctx: Context, job: Job, page: Pushed) -> tuple[Source, Counts]:
    """The source at this page: a new round begins at the first key, a known one goes on where it stands."""
    async with ctx.store.tx(job.shard) as tx:
        source = await found_in(ctx, tx, job)
        if not isinstance(source.spec.origin, PushSource):
            raise Conflict(f"the source of {job.name!r} is asked for its pages; nothing is pushed to it")
        if not (source.dry if source.pushed == page.round else page.dry):  # a round stays what its first page said
            check_going(source)
        if source.pushed == page.round:  # under way, or over: then whoever asks did not hear the answer
            if page.after > source.after:
                raise Conflict("a page of this round is missing", reached=source.after)
            [now] = await sources.rounds(tx, source, source.round + 1, 1)
            return source, now.counts
        if page.after != FIRST:
            raise Conflict("this round is not under way; begin it with its first page", reached=FIRST)
        begun = await sources.begin(tx, source, dry=page.dry, pushed=page.round)
        if begun is None:
            raise Contended("another page came at the same time; push it again")
        return begun, Counts()


async def _advance(ctx: Context, source: Source, counts: Counts, reached: str) -> Source:
    async with ctx.store.tx(source.shard) as tx:
        ended = reached == LAST
        moved = await sources.advance(tx, source, counts, after=reached, cursor=None, next_at=None, ended=ended)
    if moved is None:
        raise Contended("another page came at the same time; push it again")
    return moved
