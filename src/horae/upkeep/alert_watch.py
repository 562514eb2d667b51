"""Evaluates the alert rules in each cell: opens alerts, resolves them, and writes their messages.

Nothing is added to a fire: a round reads what the engine has written anyway. The argument:

1. One node evaluates a cell: the one that holds its first shard. If two do, both want to move the same position, and
   the second one writes nothing.
2. Ended runs are read below the horizon of transactions, from the position of the cell on. Faults, messages and the
   new position are one transaction, so that each dead letter is counted once, also when a node dies.
3. An alert that was not seen for its time is resolved after the faults of a round are written. A round that has not
   caught up with the horizon resolves nothing.
4. A group writes its first message at once and the next one after `repeat_after`, never within five minutes.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from horae.domain.alerts.alerts import LONGEST_REASON, RuleFault, group_faults
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import LIMITS
from horae.domain.health.service_level import DEFAULT_OBJECTIVE_SHARE
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.randomness import new_id
from horae.store.alerts import alerts, faults, positions
from horae.store.alerts.alerts import OpenGroup
from horae.store.connections.each_cell import Visits
from horae.store.events import feeds
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx
from horae.upkeep import alert_faults
from horae.upkeep.alert_messages import NO_PAGES, AlertPages, MessageWriter
from horae.upkeep.alert_rules import TenantRules, read_rules
from horae.upkeep.quiet import MAX_TRANSACTION_TIME

MAX_SPAN: Final = 100_000
"""Transactions whose ended runs one round reads."""
STATES_INTERVAL: Final = timedelta(seconds=10)
LEAST_LATE: Final = timedelta(seconds=1)
"""The shortest lateness that a job can ask for."""
MAX_UNSENT: Final = 1000
"""Alerts whose messages one round writes."""


class _PositionTaken(Exception):
    """Another node has evaluated this cell meanwhile: nothing of this round is written."""


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
        self._states_at: dict[str, datetime] = {}
        self._idle: set[str] = set()

    async def once(self) -> int:
        """Visit each cell of this node once. Returns how many have more to read now."""
        return await self._visits.each([cell for cell in self.store.cells if self._mine(cell)], self._visit)

    async def _visit(self, cell: CellProtocol) -> int:
        try:
            async with cell.tx() as tx:
                tenants = await read_rules(tx)
                if not tenants:
                    return await self._rest(cell, tx)
                self._idle.discard(cell.name)
                return await self._evaluate(cell, tx, tenants)
        except _PositionTaken:
            return 0

    async def _rest(self, cell: CellProtocol, tx: Tx) -> int:
        """No tenant has an alert channel: what happens until one has is not read later."""
        if cell.name not in self._idle:
            await positions.forget(tx)
            self._idle.add(cell.name)
        return 0

    async def _evaluate(self, cell: CellProtocol, tx: Tx, tenants: dict[UUID, TenantRules]) -> int:
        """One round in a cell; returns 1 if there is more to read now.

        1. Read the horizon, then move the position: this locks out every other node.
        2. Read what ended, what is overdue and, every ten seconds, all states.
        3. Write the faults by group, and resolve what was not seen any more.
        4. Write the messages that are due.
        """
        horizon = await feeds.horizon(tx)
        place = await positions.read(tx)
        since = horizon if place is None else place.xid
        until = min(horizon, since + MAX_SPAN)
        if not await positions.move(tx, since, until):
            raise _PositionTaken
        moved_at = tx.now if place is None else place.moved_at
        open_groups = await alerts.open_groups(tx)
        found = await self._find(tx, tenants, (since, until), moved_at, open_groups)
        looked_at = self._states_at.get(cell.name)
        if looked_at is None or abs(tx.now - looked_at) >= STATES_INTERVAL:  # a clock that was wrong may go back
            found += await alert_faults.states(cell.name, tx, tenants, self._objective)
            found += self._cells_down(cell, tenants)
            self._states_at[cell.name] = tx.now
        await self._record(cell, tx, found, open_groups)
        ended = await alerts.resolve(tx) if until == horizon else []
        await self._writer.write(tx, cell.name, tenants, await alerts.unsent(tx, MAX_UNSENT), ended)
        return int(until < horizon)

    async def _find(
        self,
        tx: Tx,
        tenants: dict[UUID, TenantRules],
        span: tuple[int, int],
        moved_at: datetime,
        open_groups: Sequence[OpenGroup],
    ) -> list[RuleFault]:
        await feeds.wide(tx)
        late_ms = int(LEAST_LATE.total_seconds() * 1000)
        ended = await faults.ended(tx, span, moved_at - MAX_TRANSACTION_TIME, late_ms) if span[0] < span[1] else []
        ended = [one for one in ended if one.tenant_id in tenants]
        overdue = [one for one in await faults.overdue(tx, LEAST_LATE) if one.tenant_id in tenants]
        ids = {one.job_id for one in ended} | {one.job_id for one in overdue}
        ids |= {one.job_id for one in open_groups if one.job_id is not None}
        jobs = await faults.watched_jobs(tx, sorted(ids)) if ids else {}
        found = alert_faults.dead_and_missed(tenants, ended, jobs)
        found += alert_faults.late(tenants, overdue, jobs)
        found += await alert_faults.failures(tx, tenants, ended, jobs, open_groups)
        return found

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
        groups = group_faults(
            await self._with_jobs(tx, found), {place: frozenset(keys) for place, keys in known.items()}
        )
        shard = min(self.store.shards_of(cell))
        rows = [alert_row(one, new_id(shard, tx.now)) for one in groups]
        await alerts.record(tx, sorted(rows, key=lambda row: (row["tenant_id"], row["rule"], row["group_key"])))

    async def _with_jobs(self, tx: Tx, found: Iterable[RuleFault]) -> list[RuleFault]:
        """Add what the rules know of a job, where a fault only has its id. Jobs that are not active are left out."""
        found = list(found)
        bare = sorted({one.job_id for one in found if one.job_id is not None and one.job is None})
        jobs = await faults.watched_jobs(tx, bare) if bare else {}
        return [
            one._replace(job=jobs[one.job_id]) if one.job is None and one.job_id in jobs else one
            for one in found
            if one.job is not None or one.job_id is None or one.job_id in jobs
        ]


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
