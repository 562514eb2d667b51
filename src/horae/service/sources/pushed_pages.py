"""Pages that a business system pushes of its task list; each is compared when it arrives."""

from collections.abc import Sequence

import msgspec

from horae.domain.errors import Conflict, Contended, Invalid
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import ListedTask, check_order
from horae.domain.sources.sources import FIRST, LAST, PushSource, RoundCounts, TaskSource
from horae.service.context import Context
from horae.service.identity.bound_keys import find_type
from horae.service.sources import repairs
from horae.service.sources.repairs import SourceSpan
from horae.service.sources.sources import check_not_paused, find_in
from horae.store.sources import sources

LARGEST = 1000
"""Items in one page at most."""
LONGEST_ROUND = 100
"""Characters of a round's name at most."""


class PushedPage(msgspec.Struct, frozen=True):
    """A page of a round: the items behind the key `after`, and whether it is the last page."""

    round: str
    items: Sequence[ListedTask]
    after: str = FIRST
    last: bool = False
    dry: bool = False


class PageProgress(msgspec.Struct, frozen=True):
    """The result of a page: the key up to which the round was compared, and the counts so far."""

    number: int
    reached: str
    ended: bool
    counts: RoundCounts


async def push(ctx: Context, type_name: str, page: PushedPage) -> PageProgress:
    """Compare a page and repair the differences. Pages of a round arrive in order; a repeated page changes nothing."""
    _check(page)
    read_at = repairs.now_of(ctx)
    job = await find_type(ctx, type_name)
    source, counts = await _turn(ctx, job, page)
    upto = LAST if page.last else page.items[-1].key
    while source.after < upto:
        span = SourceSpan(source.after, upto, page.items, read_at)
        reached, counts = await repairs.reconcile(ctx, job, source, span, counts)
        source = await _advance(ctx, source, counts, reached)
    return PageProgress(source.round, source.after, not source.running, counts)


def _check(page: PushedPage) -> None:
    if not 0 < len(page.round) <= LONGEST_ROUND:
        raise Invalid(f"a round has a name of 1 to {LONGEST_ROUND} characters")
    if len(page.items) > LARGEST:
        raise Invalid(f"a page holds at most {LARGEST} items, not {len(page.items)}")
    if not page.items and not page.last:
        raise Invalid("a page without items is the last one")
    check_order([one.key for one in page.items], page.after)


async def _turn(ctx: Context, job: Job, page: PushedPage) -> tuple[TaskSource, RoundCounts]:
    """Returns the source ready for this page. A new round begins at the first key, a known one continues."""
    async with ctx.store.tx(job.shard) as tx:
        source = await find_in(ctx, tx, job)
        if not isinstance(source.spec.origin, PushSource):
            raise Conflict(f"the source of {job.name!r} is asked for its pages; nothing is pushed to it")
        if not (source.dry if source.pushed == page.round else page.dry):  # the first page decides this
            check_not_paused(source)
        if source.pushed == page.round:  # it runs, or it ended and the answer was lost
            if page.after > source.after:
                raise Conflict("a page of this round is missing", reached=source.after)
            [now] = await sources.rounds(tx, source, source.round + 1, 1)
            return source, now.counts
        if page.after != FIRST:
            raise Conflict("this round is not under way; begin it with its first page", reached=FIRST)
        begun = await sources.begin(tx, source, dry=page.dry, pushed=page.round)
        if begun is None:
            raise Contended("another page came at the same time; push it again")
        return begun, RoundCounts()


async def _advance(ctx: Context, source: TaskSource, counts: RoundCounts, reached: str) -> TaskSource:
    async with ctx.store.tx(source.shard) as tx:
        ended = reached == LAST
        moved = await sources.advance(tx, source, counts, after=reached, cursor=None, next_at=None, ended=ended)
    if moved is None:
        raise Contended("another page came at the same time; push it again")
    return moved
