"""The checks of `horae doctor` in every node: logs a fault once when it appears, and once when it is over.

A session that holds a snapshot prevents the vacuum of all rows that died since, which slows down claims. It is logged
after a minute, and ended after `limit` where the deployment sets one.
"""

from collections.abc import Collection
from datetime import timedelta

from horae.domain.errors import Conflict
from horae.domain.health.doctor import MAX_SNAPSHOT_AGE, Diagnosis, Severity, examine
from horae.domain.health.members import examine_members
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.health import health, members
from horae.store.store import Store
from horae.store.tx import Tx

SNAPSHOT = "oldest snapshot"


async def examine_cell_members(cell: Cell, *, production: bool) -> list[Diagnosis]:
    """Check the members of a replicated cell; nothing for a cell whose DSN names one host."""
    return examine_members(*await members.read(cell.dsn), production=production) if cell.hosts > 1 else []


class Doctor:
    """A duty: examine every cell. `degraded` has the last findings of each cell; those in `accepted` are left out."""

    def __init__(self, store: Store, limit: timedelta | None = None, accepted: Collection[str] = ()) -> None:
        self.store = store
        self.limit = limit
        self.accepted = accepted
        self.degraded: dict[str, dict[str, Diagnosis]] = {cell.name: {} for cell in store.cells}
        self._visits = Visits("doctor")

    async def once(self) -> int:
        """Visit each cell once. Returns how many sessions were ended."""
        return await self._visits.each(self.store.cells, self._visit)

    async def _visit(self, cell: Cell) -> int:
        async with cell.direct() as connection:  # sessions of the pool override settings that are examined
            tx = Tx(connection, cell.clock.now(), reach=cell.reach)
            found = examine(await health.facts(tx, hosts=cell.hosts))
            self._log(cell, [*found, *await examine_cell_members(cell, production=True)])
            holders = await health.holders(tx, min(MAX_SNAPSHOT_AGE, self.limit or MAX_SNAPSHOT_AGE))
            return sum([await self._end(cell, tx, holder) for holder in holders])

    def _log(self, cell: Cell, findings: list[Diagnosis]) -> None:
        """Log faults, and snapshots that are held for long. Hints are for `horae doctor` only."""
        known = self.degraded[cell.name]
        found = {
            one.name: one
            for one in findings
            if (one.level is Severity.FAULT and one.name not in self.accepted) or (one.name == SNAPSHOT and one.advice)
        }
        for finding in found.values():
            if finding.name not in known:
                log.error(
                    "cell.degraded", cell=cell.name, what=finding.name, found=finding.found, advice=finding.advice
                )
        for name in known.keys() - found.keys():
            log.info("cell.recovered", cell=cell.name, what=name)
        self.degraded[cell.name] = found

    async def _end(self, cell: Cell, tx: Tx, holder: health.SnapshotHolder) -> int:
        facts = {"cell": cell.name, "pid": holder.pid, "role": holder.role, "application": holder.application}
        seconds = round(holder.age.total_seconds())
        if self.limit is None or holder.age < self.limit:
            log.warning("snapshot.held", seconds=seconds, state=holder.state, **facts)
            return 0
        try:
            ended = await health.end(tx, holder)
        except Conflict as refused:
            log.error("snapshot.not_ended", seconds=seconds, reason=str(refused), **facts)
            return 0
        log.warning("snapshot.ended", seconds=seconds, **facts)
        return int(ended)
