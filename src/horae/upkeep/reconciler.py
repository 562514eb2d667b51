"""The reconciler: keeps our tasks true to what each source lists.

A round walks over all keys, page by page, and remembers how far it has come only after what differed was repaired: one
that is killed leaves a page to be compared again, which changes nothing. It never takes long: after a portion the next
source has its turn, and whoever holds the source's shard goes on.

Sources are strangers. Each is asked in a task of its own, a few of one tenant at once, and whatever one of them raises
is told in its own round: a source that is slow, or sends what nobody can read, keeps no other waiting.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.comparisons import Wanted
from horae.domain.egress import Egress
from horae.domain.errors import Contended, NotFound, ShardClosed, Unavailable
from horae.domain.foreign import fit_for_row
from horae.domain.ids import compose
from horae.domain.jobs import Job
from horae.domain.sources import LAST, Counts, PushSource, Source, secrets_of
from horae.domain.tenants import Allowance
from horae.runtime.clock import boottime
from horae.runtime.setbacks import Setbacks
from horae.runtime.sharing import SharedTasks
from horae.runtime.telemetry import count, log
from horae.service import repairs
from horae.service.context import Context
from horae.service.places import insisting
from horae.service.repairs import Span
from horae.store import repairs as findings
from horae.store import sources, tenants
from horae.store.cells import Cell, Store
from horae.store.each import Visits, ask_each
from horae.store.secret_book import SecretBook
from horae.upkeep.listing import Page, Read, opened

ACTOR: Final = "source"
AT_ONCE: Final = 100
"""Sources that are read in one look."""
WAITING_OF_TENANT: Final = 8
"""Sources of one tenant that are asked or wait for it: with so many the tenant's others are passed over in a look."""
CONCURRENCY: Final = 16
"""Sources that are asked at the same time."""
CONCURRENCY_OF_TENANT: Final = 4
ROUND_SECONDS: Final = 5.0
"""Seconds for which a look waits for its sources. Those that take longer go on beside the next look."""
LONGEST_ERROR: Final = 500
PORTION_ROWS: Final = 100_000
PORTION_SECONDS: Final = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
REMEMBERED: Final = timedelta(days=30)
Held = Callable[[Cell], Iterable[int]]


class Reconciler:
    """A duty of a node over the sources whose shards it holds. `usual` are the deployment's rules of where to go."""

    def __init__(self, store: Store, held: Held, sender: Sender, usual: Egress) -> None:
        self.store = store
        self._held = held
        self._egress: dict[UUID, Egress | None] = {}
        self._usual = usual
        self._sender = Sender(sender.client, sender.secrets, sender.wall)
        self._sender.egress_of = self._egress.__getitem__
        self._tasks: SharedTasks[UUID] = SharedTasks(CONCURRENCY, CONCURRENCY_OF_TENANT)
        self._setbacks = Setbacks()
        self._visits = Visits("reconciler")

    async def once(self) -> int:
        """A portion of every source that is due; returns how many rows were compared."""
        try:
            await self._visits.each(self.store.cells, self._begin)
            return await self._tasks.settle(ROUND_SECONDS)
        except asyncio.CancelledError:
            await self._tasks.close()
            raise

    async def close(self) -> None:
        """End what is still asked; the next holder goes on from what was remembered."""
        await self._tasks.close()

    async def _begin(self, cell: Cell) -> int:
        """Begin with what is due in a cell; returns how many sources were."""
        held, begun = frozenset(self._held(cell)), 0
        async with cell.statement() as tx:
            while True:
                without = self._crowded()
                due = await sources.due(tx, AT_ONCE, without)
                for one in due:
                    if one.shard in held:
                        self._start(cell, one)
                        begun += 1
                if len(due) < AT_ONCE or self._crowded() == without:
                    return begun

    def _crowded(self) -> set[UUID]:
        """Tenants of whom enough is under way: a tenant with many slow sources hides nobody else's."""
        return {tenant for tenant, many in self._tasks.by_owner().items() if many >= WAITING_OF_TENANT}

    def _start(self, cell: Cell, source: Source) -> None:
        if self._setbacks.may_try(source.id) and self._tasks.by_owner()[source.tenant_id] < WAITING_OF_TENANT:
            self._tasks.start(source.tenant_id, source.id, partial(self._source, cell, source))

    async def _source(self, cell: Cell, source: Source) -> int:
        """A portion; what fails is told in the round, and tried again later from where it stands."""
        if source.shard not in frozenset(self._held(cell)):
            return 0  # it waited for its turn while its shard went to another node
        walk = _Walk(self.store, cell, source)
        try:
            await self._walk(walk)
        except Exception as error:
            await self._fail(walk, error)
        else:
            self._setbacks.succeeded(source.id)
        return walk.compared

    async def _walk(self, walk: "_Walk") -> None:
        await walk.begin()
        source = walk.source
        ctx, allowance = await self._caller(walk.cell, source)
        job = await insisting(ctx, lambda ctx: ctx.types.find(ctx.tenant, source.name))
        if job.id != source.job_id:
            raise NotFound(f"the type {source.name!r} this source was made for is gone")
        self._egress[ctx.tenant.id] = allowance.egress
        async with opened(self._sender, job, source, allowance.egress or self._usual) as read:
            await walk.go(ctx, job, read)

    async def _fail(self, walk: "_Walk", error: Exception) -> None:
        """Tell it in the round; where even that fails the source is left alone for a while."""
        try:
            await walk.fail(error)
        except Exception:
            pause_s = self._setbacks.failed(walk.source.id)
            log.exception("source.failure_not_written", source=walk.source.name, pause_s=pause_s)

    async def _caller(self, cell: Cell, source: Source) -> tuple[Context, Allowance]:
        async with cell.statement() as tx:
            found = await tenants.known(tx, source.tenant_id)
        if found is None:
            raise Unavailable("the tenant is not known in this cell, or not yet")
        if isinstance(self._sender.secrets, SecretBook):
            await self._sender.secrets.learn(cell, {source.tenant_id: secrets_of(source.spec.origin)})
        return Context.of(self.store, found[0], ACTOR), found[1]


class _Walk:
    """One portion of one source's round."""

    def __init__(self, store: Store, cell: Cell, source: Source) -> None:
        self.store, self.cell, self.source = store, cell, source
        self.counts = Counts()
        self.compared = 0
        self._until = boottime() + PORTION_SECONDS

    async def begin(self) -> None:
        """Begin a round where none runs, or another was asked for; else go on with what it has counted."""
        source = self.source
        async with self.cell.tx() as tx:
            if source.running and source.asked is None:
                [current] = await sources.rounds(tx, source, source.round + 1, 1)
                self.counts = current.counts
                return
            begun = await sources.begin(tx, source, dry=source.asked == "dry")
        self.source = _ours(begun)

    async def go(self, ctx: Context, job: Job, read: Read) -> None:
        """Page after page until the list or the portion ends."""
        fresh = not self.source.after  # else a part of its page may have been compared
        while True:
            read_at = repairs.now_of(ctx)
            page = await read(self.source, fresh)
            while True:
                reached = await self._compare(ctx, job, page, read_at)
                ended = reached == LAST
                await self._remember(page, reached, ended=ended)
                if ended or self._spent:
                    return
                if reached == page.upto:
                    break
            fresh = True

    async def _compare(self, ctx: Context, job: Job, page: Page, read_at: datetime) -> str:
        listed: list[Wanted] = page.listed
        before = self.counts.rows + self.counts.living
        span = Span(self.source.after, page.upto, listed, read_at)
        key, self.counts = await repairs.reconcile(ctx, job, self.source, span, self.counts)
        self.compared += max(1, self.counts.rows + self.counts.living - before)
        return key

    async def _remember(self, page: Page, reached: str, *, ended: bool) -> None:
        source, now = self.source, self.cell.clock.now()
        whole = reached == page.upto
        cursor = page.next if whole else source.cursor
        next_at = now + timedelta(seconds=source.spec.every) if ended else now
        async with self.cell.tx() as tx:
            moved = await sources.advance(
                tx, source, self.counts, after=reached, cursor=cursor, next_at=next_at, ended=ended
            )
        self.source = _ours(moved)
        if ended:
            log.info("source.round", source=source.name, round=source.round, drift=self.counts.drift)
            await self._forget(now)

    async def _forget(self, now: datetime) -> None:
        before = compose(0, int((now - REMEMBERED).timestamp() * 1000), 0)

        async def forget(cell: Cell) -> None:
            async with cell.statement() as tx:
                await findings.forget(tx, self.source.id, before)

        await ask_each(self.store.cells, forget)  # where one is down, the next round forgets

    async def fail(self, error: Exception) -> None:
        """Tell it in the round, and let some time pass; a source whose type is gone waits for a person."""
        source = self.source
        if isinstance(error, Contended | ShardClosed) or isinstance(source.spec.origin, PushSource):
            return
        pause = min(FIRST_PAUSE * 2 ** min(source.failures, 10), LONGEST_PAUSE)
        next_at = None if isinstance(error, NotFound) else self.cell.clock.now() + timedelta(seconds=pause)
        reason = fit_for_row(str(error) or type(error).__name__, LONGEST_ERROR)
        log.warning("source.failed", source=source.name, reason=reason)
        count("source.failed", 1)
        async with self.cell.tx() as tx:
            await sources.advance(
                tx,
                source,
                self.counts,
                after=source.after,
                cursor=source.cursor,
                next_at=next_at,
                error=reason,
            )

    @property
    def _spent(self) -> bool:
        return boottime() > self._until or self.compared >= PORTION_ROWS


def _ours(source: Source | None) -> Source:
    if source is None:
        raise Contended("another has gone on with this source")
    return source
