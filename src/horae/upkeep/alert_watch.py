"""Evaluates the alert rules in each cell: opens alerts, resolves them, and writes their messages.

Nothing is added to a fire: a round reads what the engine has written anyway. The argument:

1. One node evaluates a cell: the one that holds its first shard. If two do, both want to move the same position, and
   the second one writes nothing.
2. Ended runs are read below the horizon of transactions, from the position of the cell on. Faults, messages and the
   new position are one transaction, so that each dead letter is counted once, also when a node dies.
3. What a tenant can make slow is read before that transaction, each tenant by itself (`alert_checks`). A span of ended
   runs that takes too long is read in shorter ones.
4. An alert that was not seen for its time is resolved after the faults of a round are written. A round that has not
   caught up with the horizon resolves nothing.
5. A group writes its first message at once and the next one after `repeat_after`, never within five minutes.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.alerts.alerts import LONGEST_REASON, RuleFault, group_faults
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import LIMITS, WatchedJob
from horae.domain.health.service_level import DEFAULT_OBJECTIVE_SHARE
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.clock import boottime
from horae.runtime.randomness import new_id
from horae.store.alerts import alerts, faults, positions
from horae.store.alerts.alerts import OpenGroup
from horae.store.alerts.faults import EndedRuns
from horae.store.alerts.positions import ReadPosition
from horae.store.connections.each_cell import Visits
from horae.store.events import feeds
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import CUT, Tx
from horae.upkeep import alert_faults
from horae.upkeep.alert_checks import CheckName, RuleChecks
from horae.upkeep.alert_messages import NO_PAGES, AlertPages, MessageWriter
from horae.upkeep.alert_rules import TenantRules, read_rules
from horae.upkeep.quiet import MAX_TRANSACTION_TIME
from horae.upkeep.spans import Strides

MAX_SPAN: Final = 100_000
"""Transactions whose ended runs one round reads at most."""
STATES_INTERVAL: Final = timedelta(seconds=10)
LEAST_LATE: Final = timedelta(seconds=1)
"""The shortest lateness that a job can ask for."""
TOO_LONG: Final[tuple[type[Exception], ...]] = (*CUT, TimeoutError)
MAX_UNSENT: Final = 1000
"""Alerts whose messages one round writes."""


class _PositionTaken(Exception):
    """Another node has evaluated this cell meanwhile: nothing of this round is written."""


class EndedSpan(NamedTuple):
    """What ended in a span of transactions, read at `read_at`, with the open alerts and the jobs of both.

    `is_more`: the span does not reach the horizon. `moved_at` is when everything up to the horizon was read last.
    """

    since: int
    until: int
    is_more: bool
    moved_at: datetime
    read_at: datetime
    ended: Sequence[EndedRuns]
    open_groups: Sequence[OpenGroup]
    jobs: dict[UUID, WatchedJob]


class AlertWatcher:
    """A duty, every two seconds. `mine` says whether this node evaluates a cell.

    `objective` is the part of all due times that the deployment wants to be in time.
    """

    def __init__(
        self,
        store: StoreProtocol,
        mine: Callable[[CellProtocol], bool],
        pages: AlertPages = NO_PAGES,
        objective: float = DEFAULT_OBJECTIVE_SHARE,
    ) -> None:
        self.store, self._mine, self._writer, self._objective = store, mine, MessageWriter(pages), objective
        self._visits = Visits("alertwatcher")
        self._checks, self._strides = RuleChecks(), Strides(MAX_SPAN, MAX_SPAN)
        self._states_at: dict[str, datetime] = {}
        self._idle: set[str] = set()

    async def once(self) -> int:
        """Visit each cell of this node once. Returns how many have more to read now."""
        return await self._visits.each([cell for cell in self.store.cells if self._mine(cell)], self._visit)

    async def _visit(self, cell: CellProtocol) -> int:
        """One round in a cell; returns 1 if there is more to read now.

        1. Read the rules, then the next span of ended runs.
        2. Read what is overdue and, every ten seconds, all states: each tenant by itself.
        3. Write the faults, the messages and the new position.
        """
        async with cell.statement() as tx:
            tenants = await read_rules(tx)
            if not tenants:
                return await self._rest(cell, tx)
        self._idle.discard(cell.name)
        span = await self._read_span(cell, tenants)
        found = await self._find(cell, tenants, span)
        try:
            async with cell.tx() as tx:
                return await self._write(cell, tx, tenants, span, found)
        except _PositionTaken:
            return 0

    async def _rest(self, cell: CellProtocol, tx: Tx) -> int:
        """No tenant has an alert channel: what happens until one has is not read later."""
        if cell.name not in self._idle:
            await positions.forget(tx)
            self._idle.add(cell.name)
        return 0

    async def _read_span(self, cell: CellProtocol, tenants: dict[UUID, TenantRules]) -> EndedSpan:
        """Read the horizon, then what ended from the position on. After a timeout the next span is shorter."""
        async with cell.tx() as tx:
            horizon = await feeds.horizon(tx)
            place = await positions.read(tx) or ReadPosition(horizon, tx.now)
            until = min(horizon, place.xid + self._strides.of(cell.name))
            await feeds.wide(tx)
            ended = await self._ended(cell, tx, (place.xid, until), place.moved_at)
            ended = [one for one in ended if one.tenant_id in tenants]
            groups = await alerts.open_groups(tx)
            ids = {one.job_id for one in ended} | {one.job_id for one in groups if one.job_id is not None}
            jobs = await faults.watched_jobs(tx, sorted(ids))
        moved_at = tx.now if until == horizon else place.moved_at
        return EndedSpan(place.xid, until, until < horizon, moved_at, tx.now, ended, groups, jobs)

    async def _ended(
        self, cell: CellProtocol, tx: Tx, span: tuple[int, int], moved_at: datetime
    ) -> Sequence[EndedRuns]:
        if span[0] >= span[1]:
            return []
        late_ms, began_at = int(LEAST_LATE.total_seconds() * 1000), boottime()
        try:
            found = await faults.ended(tx, span, moved_at - MAX_TRANSACTION_TIME, late_ms)
        except TOO_LONG:
            self._strides.shrink(cell.name)
            raise
        self._strides.grow(cell.name, span[1] - span[0], boottime() - began_at)
        return found

    async def _find(self, cell: CellProtocol, tenants: dict[UUID, TenantRules], span: EndedSpan) -> list[RuleFault]:
        found = alert_faults.dead_and_missed(tenants, span.ended, span.jobs)
        found += await self._late(cell, tenants)
        found += await self._failures(cell, tenants, span)
        looked_at = self._states_at.get(cell.name)
        if looked_at is None or abs(span.read_at - looked_at) >= STATES_INTERVAL:  # a wrong clock may go back
            found += await self._states(cell, tenants)
            found += self._cells_down(cell, tenants)
            self._states_at[cell.name] = span.read_at
        return found

    async def _late(self, cell: CellProtocol, tenants: dict[UUID, TenantRules]) -> list[RuleFault]:
        async def check(tx: Tx) -> list[RuleFault]:
            overdue = [one for one in await faults.overdue(tx, LEAST_LATE) if one.tenant_id in tenants]
            jobs = await faults.watched_jobs(tx, sorted({one.job_id for one in overdue}))
            return alert_faults.late(tenants, overdue, jobs)

        return await self._of_all(cell, tenants, AlertKind.LATE, check)

    async def _failures(self, cell: CellProtocol, tenants: dict[UUID, TenantRules], span: EndedSpan) -> list[RuleFault]:
        found, kind = [], AlertKind.FAILURES_IN_A_ROW
        for tenant_id, asked in alert_faults.jobs_to_count(span.ended, span.open_groups).items():
            if (tenant := tenants.get(tenant_id)) is not None and tenant.of_kind(kind):
                check = partial(alert_faults.failures, tenant=tenant, asked=asked, jobs=span.jobs)
                name = CheckName(cell.name, tenant.name, kind)
                found += await self._checks.run(cell, name, [(tenant_id, kind)], check)
        return found

    async def _states(self, cell: CellProtocol, tenants: dict[UUID, TenantRules]) -> list[RuleFault]:
        stopped = partial(alert_faults.stopped_targets, tenants=tenants)
        found = await self._of_all(cell, tenants, AlertKind.BREAKER_OPEN, stopped)
        for tenant in tenants.values():
            about = [(tenant.tenant_id, rule.rule.kind) for rule in alert_faults.checked_rules(tenant)]
            check = partial(alert_faults.states, cell.name, tenant=tenant, objective=self._objective)
            found += await self._checks.run(cell, CheckName(cell.name, tenant.name, "states"), about, check)
        return found

    async def _of_all(
        self,
        cell: CellProtocol,
        tenants: dict[UUID, TenantRules],
        kind: AlertKind,
        check: Callable[[Tx], Awaitable[list[RuleFault]]],
    ) -> list[RuleFault]:
        """Check the rules of a kind with one statement for all tenants."""
        about = [(tenant.tenant_id, kind) for tenant in tenants.values() if tenant.of_kind(kind)]
        return await self._checks.run(cell, CheckName(cell.name, None, kind), about, check)

    async def _write(
        self,
        cell: CellProtocol,
        tx: Tx,
        tenants: dict[UUID, TenantRules],
        span: EndedSpan,
        found: Iterable[RuleFault],
    ) -> int:
        """Write a round; returns 1 if there is more to read now.

        1. Move the position: this locks out every other node.
        2. Write the faults by group, and resolve what was not seen any more.
        3. Write the messages that are due.
        """
        if not await positions.move(tx, span.since, span.until, span.moved_at):
            raise _PositionTaken
        await self._record(cell, tx, found, span.open_groups)
        ended = [] if span.is_more else await alerts.resolve(tx, self._checks.unchecked(cell.name, tenants))
        unsent = await alerts.unsent(tx, list(tenants), MAX_UNSENT)
        await self._writer.write(tx, cell.name, tenants, unsent, ended)
        return int(span.is_more)

    def _cells_down(self, cell: CellProtocol, tenants: dict[UUID, TenantRules]) -> list[RuleFault]:
        """The cells that do not answer. The first cell that answers has their alerts."""
        first = next((one for one in self.store.cells if not one.reach.is_down), None)
        if first is None or first.name != cell.name:
            return []
        return [
            RuleFault(
                tenant.tenant_id, rule, one.name, f"the cell {one.name} does not answer for {one.reach.down_s:.0f} s"
            )
            for tenant in tenants.values()
            if tenant.name == SYSTEM
            for rule in tenant.of_kind(AlertKind.CELL_DOWN)
            for one in self.store.cells
            if one.reach.is_down and one.reach.down_s >= rule.rule.limit
        ]

    async def _record(
        self, cell: CellProtocol, tx: Tx, found: Iterable[RuleFault], open_groups: Iterable[OpenGroup]
    ) -> None:
        known: dict[tuple[UUID, str], set[str]] = {}
        for one in open_groups:
            known.setdefault((one.tenant_id, one.rule), set()).add(one.group_key)
        groups = group_faults(found, {place: frozenset(keys) for place, keys in known.items()})
        shard = min(self.store.shards_of(cell))
        rows = [alert_row(one, new_id(shard, tx.now)) for one in groups]
        await alerts.record(tx, sorted(rows, key=lambda row: (row["tenant_id"], row["rule"], row["group_key"])))


def alert_row(one: RuleFault, id_: UUID) -> dict[str, Any]:
    """The row of an alert that opens."""
    rule, job = one.rule.rule, one.job
    return {
        "id": str(id_),
        "tenant_id": str(one.tenant_id),
        "rule": one.rule.name,
        "kind": rule.kind,
        "severity": rule.severity or rule.kind.severity,
        "group_key": one.subject[:500],
        "job_id": None if one.job_id is None else str(one.job_id),
        "job": None if job is None else job.name,
        "owner": None if job is None else job.owner,
        "labels": {} if job is None else dict(job.labels),
        "runbook": None if job is None else job.runbook,
        "reason": one.reason[:LONGEST_REASON],
        "count": one.cases,
        "adds": LIMITS[rule.kind].adds,
        "channels": list(one.rule.channels_for(job)),
        "repeat_after": rule.repeat_after,
        "resolve_after": rule.quiet_s,
    }
