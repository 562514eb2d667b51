"""What `horae doctor` says when asked, every node says unasked: once when something comes up, once when it is over.

A session that holds a snapshot keeps everything that died since from being vacuumed, until claims wade through it. It
is reported after a minute, and ended after `limit` where a deployment asks for that.
"""

from datetime import timedelta

from horae.domain.doctor import OLDEST_SNAPSHOT, Finding, Level, examine
from horae.domain.errors import Conflict
from horae.runtime.telemetry import log
from horae.store import health
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.tx import Tx

SNAPSHOT = "oldest snapshot"


class Doctor:
    """Looks at every cell; `unwell` is what was found there last."""

    def __init__(self, store: Store, limit: timedelta | None = None) -> None:
        self.store = store
        self.limit = limit
        self.unwell: dict[str, dict[str, Finding]] = {cell.name: {} for cell in store.cells}
        self._visits = Visits("doctor")

    async def once(self) -> int:
        """Every cell once; returns how many sessions were ended."""
        return await self._visits.each(self.store.cells, self._visit)

    async def _visit(self, cell: Cell) -> int:
        async with cell.direct() as connection:  # our pool's sessions change settings for themselves
            tx = Tx(connection, cell.clock.now(), reach=cell.reach)
            self._tell(cell, examine(await health.facts(tx)))
            holders = await health.holders(tx, min(OLDEST_SNAPSHOT, self.limit or OLDEST_SNAPSHOT))
            return sum([await self._end(cell, tx, holder) for holder in holders])

    def _tell(self, cell: Cell, findings: list[Finding]) -> None:
        """Faults, and snapshots held for long. A hint is for who asks."""
        known = self.unwell[cell.name]
        found = {one.name: one for one in findings if one.level is Level.FAULT or (one.name == SNAPSHOT and one.advice)}
        for finding in found.values():
            if finding.name not in known:
                log.error("cell.unwell", cell=cell.name, what=finding.name, found=finding.found, advice=finding.advice)
        for name in known.keys() - found.keys():
            log.info("cell.well_again", cell=cell.name, what=name)
        self.unwell[cell.name] = found

    async def _end(self, cell: Cell, tx: Tx, holder: health.Holder) -> int:
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
