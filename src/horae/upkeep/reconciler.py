"""The reconciler: keeps tasks consistent with the list of each source.

A round goes over all keys, page by page, and remembers its position only after the differences are repaired. A round
that is killed compares one page again, which changes nothing. A round works in short portions, so that all sources take
turns; the node that holds the shard of the source then continues it.

Sources are not trusted. Each is read in a task of its own, a few of one tenant at the same time, and its errors are
recorded in its own round. A source that is slow, or sends unreadable data, delays no other.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.errors import Contended, NotFound, ShardClosed, Unavailable
from horae.domain.foreign import fit_for_row
from horae.domain.ids import compose
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import ListedTask
from horae.domain.sources.sources import LAST, PushSource, RoundCounts, TaskSource, secrets_of
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.repositories.secret_book import SecretBook
from horae.runtime.clock import boottime
from horae.runtime.setbacks import Setbacks
from horae.runtime.sharing import SharedTasks
from horae.runtime.telemetry import count, log
from horae.service.context import Context
from horae.service.sources import repairs
from horae.service.sources.repairs import SourceSpan
from horae.service.tenants.places import retry_if_widened
from horae.store.connections.each_cell import Visits, ask_each
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.sources import repairs as findings
from horae.store.sources import sources
from horae.store.tenants import tenants
from horae.upkeep.listing import ListPage, Read, open_list

ACTOR: Final = "source"
AT_ONCE: Final = 100
"""Due sources that one statement returns."""
WAITING_OF_TENANT: Final = 8
"""Sources of one tenant that run or wait. Above this number the tenant's other sources are left out of a round."""
CONCURRENCY: Final = 16
"""Sources that are read at the same time."""
CONCURRENCY_OF_TENANT: Final = 4
"""Sources of one tenant that are read at the same time."""
ROUND_TIMEOUT_S: Final = 5.0
"""Seconds that a round waits for its sources. Slower sources go on beside the next round."""
LONGEST_ERROR: Final = 500
"""Characters of an error that a round records."""
PORTION_ROWS: Final = 100_000
"""Rows that one portion compares, of both sides together."""
MAX_PORTION_S: Final = 2.0
"""Seconds after which a portion ends."""
FIRST_RETRY_PAUSE_S: Final = 5.0
"""The pause before a failed source is tried again. It doubles with each failure."""
MAX_RETRY_PAUSE_S: Final = 300.0
FINDINGS_KEPT: Final = timedelta(days=30)
Held = Callable[[CellProtocol], Iterable[int]]


class Reconciler:
    """A duty of a node over the sources whose shards it holds. `usual` are the egress rules of the deployment."""

    def __init__(self, store: StoreProtocol, held: Held, sender: Sender, usual: Egress) -> None:
        self.store = store
        self._held = held
        self._egress: dict[UUID, Egress | None] = {}
        self._usual = usual
        self._sender = Sender(sender.client, sender.secrets, sender.wall, egress_of=self._egress.__getitem__)
        self._tasks: SharedTasks[UUID] = SharedTasks(CONCURRENCY, CONCURRENCY_OF_TENANT)
        self._setbacks = Setbacks()
        self._visits = Visits("reconciler")

    async def once(self) -> int:
        """Run a portion of every source that is due. Returns how many rows were compared."""
        try:
            await self._visits.each(self.store.cells, self._begin)
            return await self._tasks.settle(ROUND_TIMEOUT_S)
        except asyncio.CancelledError:
            await self._tasks.close()
            raise

    async def close(self) -> None:
        """Cancel the running portions. The next holder continues from the last remembered position."""
        await self._tasks.close()

    async def _begin(self, cell: CellProtocol) -> int:
        """Start the due sources of a cell. Returns how many there were."""
        held, begun = frozenset(self._held(cell)), 0
        async with cell.statement() as tx:
            while True:
                without = self._busy_tenants()
                due = await sources.due(tx, AT_ONCE, without)
                for one in due:
                    if one.shard in held:
                        self._start(cell, one)
                        begun += 1
                if len(due) < AT_ONCE or self._busy_tenants() == without:
                    return begun

    def _busy_tenants(self) -> set[UUID]:
        """Returns the tenants with enough sources under way, so that a tenant with many slow sources hides no other."""
        return {tenant for tenant, many in self._tasks.by_owner().items() if many >= WAITING_OF_TENANT}

    def _start(self, cell: CellProtocol, source: TaskSource) -> None:
        if self._setbacks.may_try(source.id) and self._tasks.by_owner()[source.tenant_id] < WAITING_OF_TENANT:
            self._tasks.start(source.tenant_id, source.id, partial(self._source, cell, source))

    async def _source(self, cell: CellProtocol, source: TaskSource) -> int:
        """Run a portion of a source. A failure is recorded in the round; a later try continues from its position."""
        if source.shard not in frozenset(self._held(cell)):
            return 0  # its shard moved to another node while it waited
        walk = _RoundWalk(self.store, cell, source)
        try:
            await self._walk(walk)
        except Exception as error:
            await self._fail(walk, error)
        else:
            self._setbacks.record_success(source.id)
        return walk.compared

    async def _walk(self, walk: "_RoundWalk") -> None:
        await walk.begin()
        source = walk.source
        ctx, allowance = await self._caller(walk.cell, source)
        job = await retry_if_widened(ctx, lambda ctx: ctx.types.find(ctx.tenant, source.name))
        if job.id != source.job_id:
            raise NotFound(f"the type {source.name!r} this source was made for is gone")
        self._egress[ctx.tenant.id] = allowance.egress
        async with open_list(self._sender, job, source, allowance.egress or self._usual) as read:
            await walk.go(ctx, job, read)

    async def _fail(self, walk: "_RoundWalk", error: Exception) -> None:
        """Record a failure in the round. If that fails too, the source pauses for a while."""
        try:
            await walk.fail(error)
        except Exception:
            pause_s = self._setbacks.record_failure(walk.source.id)
            log.exception("source.failure_not_written", source=walk.source.name, pause_s=pause_s)

    async def _caller(self, cell: CellProtocol, source: TaskSource) -> tuple[Context, Allowance]:
        async with cell.statement() as tx:
            found = await tenants.known(tx, source.tenant_id)
        if found is None:
            raise Unavailable("the tenant is not known in this cell, or not yet")
        if isinstance(self._sender.secrets, SecretBook):
            await self._sender.secrets.learn(cell, {source.tenant_id: secrets_of(source.spec.origin)})
        return Context.of(self.store, found[0], ACTOR), found[1]


class _RoundWalk:
    """One portion of one round of a source."""

    def __init__(self, store: StoreProtocol, cell: CellProtocol, source: TaskSource) -> None:
        self.store, self.cell, self.source = store, cell, source
        self.counts = RoundCounts()
        self.compared = 0
        self._until = boottime() + MAX_PORTION_S

    async def begin(self) -> None:
        """Begin a round if none runs or another was requested; else continue with the counts of the running one."""
        source = self.source
        async with self.cell.tx() as tx:
            if source.running and source.asked is None:
                [current] = await sources.rounds(tx, source, source.round + 1, 1)
                self.counts = current.counts
                return
            begun = await sources.begin(tx, source, dry=source.asked == "dry")
        self.source = _ours(begun)

    async def go(self, ctx: Context, job: Job, read: Read) -> None:
        """Compare page after page until the list or the portion ends.

        1. Note the time before a page is read: a change after it may be missing from the page.
        2. Compare the page in one or several spans, and remember the position after each.
        3. `fresh` is False for a page of which a part may have been compared before.
        """
        fresh = not self.source.after  # else a part of the page may have been compared
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

    async def _compare(self, ctx: Context, job: Job, page: ListPage, read_at: datetime) -> str:
        listed: list[ListedTask] = page.listed
        before = self.counts.rows + self.counts.living
        span = SourceSpan(self.source.after, page.upto, listed, read_at)
        key, self.counts = await repairs.reconcile(ctx, job, self.source, span, self.counts)
        self.compared += max(1, self.counts.rows + self.counts.living - before)
        return key

    async def _remember(self, page: ListPage, reached: str, *, ended: bool) -> None:
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
        before = compose(0, int((now - FINDINGS_KEPT).timestamp() * 1000), 0)

        async def forget(cell: CellProtocol) -> None:
            async with cell.statement() as tx:
                await findings.forget(tx, self.source.id, before)

        await ask_each(self.store.cells, forget)  # a later round does it in a cell that is down

    async def fail(self, error: Exception) -> None:
        """Record a failure in the round, and pause. A source whose type is gone waits for a person."""
        source = self.source
        if isinstance(error, Contended | ShardClosed) or isinstance(source.spec.origin, PushSource):
            return
        pause = min(FIRST_RETRY_PAUSE_S * 2 ** min(source.failures, 10), MAX_RETRY_PAUSE_S)
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


def _ours(source: TaskSource | None) -> TaskSource:
    if source is None:
        raise Contended("another has gone on with this source")
    return source
