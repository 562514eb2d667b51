"""Audits the fires of every cell, step by step, while everything goes on.

1. One node audits a cell: the one that holds its first shard. If two do, both want to move the same position, and the
   second one writes nothing.
2. Every round looks at the cursors that are overdue. One that stood at the same fire in the round before stands still.
3. Every few minutes a walk begins: over all jobs of the cell that recur, it judges the fires that have become old
   enough since the walk before. A round judges some of the jobs, and stores how far it came with what it found.
4. A job with a finding is judged a second time, by what is stored then. If a cell is down, the rows that are missing
   may be there: nothing is recorded, and the next walk judges the same fires again.
5. Open findings are judged again from time to time (`open_findings`), and end when they are not found any more.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.fire_audit.comparison import GRACE
from horae.domain.fire_audit.findings import FireFault, FireFinding
from horae.runtime.telemetry import log
from horae.service.audit.fire_facts import CellAnswers
from horae.service.audit.fire_repairs import plan_again
from horae.service.audit.fires import AuditRange, judge_again, judge_jobs, read_page
from horae.store.audit import findings, fire_positions, fires
from horae.store.audit.fire_positions import AuditPosition
from horae.store.audit.fires import BEGINNING, JobRow
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx
from horae.upkeep import fire_findings
from horae.upkeep.open_findings import LONGEST_WALK, STILL_AFTER, first_kept, recheck

MOST_OVERDUE: Final = 200
"""Overdue cursors of a cell that a round looks at."""
WALK_INTERVAL: Final = timedelta(minutes=5)
"""The shortest range that a walk judges."""
PAGE: Final = 250
"""Jobs per page."""
JOBS_PER_ROUND: Final = 1000
"""Jobs that a round judges. To read what decides the fires of a job takes more CPU than to judge ten of them."""
FIRES_PER_ROUND: Final = 20_000
"""Fires after which a round judges no further page: more than become old enough in 15 seconds at 1,000 a second."""
FINDINGS_KEPT: Final = timedelta(days=30)
NOT_PLANNED: Final[tuple[type[Exception], ...]] = (HoraeError, *UNSERVED_OR_MOVING)
"""Errors after which a cursor stays where it is. It is a finding, and a person may repair it."""


class WalkPart(NamedTuple):
    """What one round of a walk found: how far it came, and whether these were the last jobs."""

    place: tuple[int, UUID]
    ended: bool
    found: list[FireFinding]
    has_doubt: bool


class FireAuditor:
    """A duty, every 15 seconds. `mine` says whether this node audits a cell."""

    def __init__(self, store: StoreProtocol, mine: Callable[[CellProtocol], bool] = lambda _: True) -> None:
        self.store = store
        self._mine = mine
        self._visits = Visits("fireauditor", UNSERVED_OR_MOVING)
        self._overdue: dict[str, dict[UUID, datetime | None]] = {}

    async def once(self) -> int:
        """Visit each cell of this node once. Returns 0: the next round can wait, however much there is to do."""
        await self._visits.each([cell for cell in self.store.cells if self._mine(cell)], self._visit)
        return 0

    async def _visit(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            now = tx.now
            position = await fire_positions.read(tx)
            overdue = await fires.overdue(tx, now - STILL_AFTER, MOST_OVERDUE)
            if position is None:
                await fire_positions.begin(tx, now - GRACE)
        await self._name_frozen(cell, overdue)
        if position is None:
            return
        if position.has_findings:
            await recheck(CellAnswers(self.store.cells, needs_all=False), cell)
        await self._walk(cell, position, now)

    async def _name_frozen(self, cell: CellProtocol, overdue: Sequence[JobRow]) -> None:
        """Record the cursors that have not moved since the round before. Nodes get a wake for the others."""
        before = self._overdue.get(cell.name, {})
        self._overdue[cell.name] = {job.id: job.cursor for job in overdue}
        self.store.wakes.wake_all(
            cell, [(job.shard, job.cursor) for job in overdue if job.id not in before and job.cursor is not None]
        )
        frozen = [job for job in overdue if job.id in before and before[job.id] == job.cursor]
        found = [_still(job) for job in frozen if not job.may_be_withheld]
        if not found:
            return

        async def work(tx: Tx) -> list[FireFinding]:
            await fire_positions.lock(tx)
            return await fire_findings.record(tx, found)

        fire_findings.report(cell.name, await cell.run(work))

    async def _walk(self, cell: CellProtocol, position: AuditPosition, now: datetime) -> None:
        """Judge the fires of some more jobs, and store how far that came."""
        begun = position if position.walk_until is not None else await self._begin(cell, position, now)
        if begun is None or begun.walk_until is None:
            return
        part = await self._judge_some(cell, AuditRange(begun.judged_until, begun.walk_until), begun.walked)
        has_doubt = begun.has_doubt or part.has_doubt
        if part.ended:
            judged_until = begun.judged_until if has_doubt else begun.walk_until
            after = AuditPosition(judged_until)
        else:
            after = begun._replace(walked_shard=part.place[0], walked_job=part.place[1], has_doubt=has_doubt)

        async def work(tx: Tx) -> list[FireFinding]:
            if not await fire_positions.move(tx, position, after):
                return []  # another node has judged them meanwhile
            if part.ended:
                await findings.forget(tx, tx.now - FINDINGS_KEPT)
            return await fire_findings.record(tx, part.found)

        fresh = await cell.run(work)
        fire_findings.report(cell.name, fresh)
        for one in fresh:
            if one.fault is FireFault.STANDS_STILL:
                await self._plan_again(one)

    async def _begin(self, cell: CellProtocol, position: AuditPosition, now: datetime) -> AuditPosition | None:
        """The position with the range of a new walk; None if it is too early for one."""
        if now - GRACE - position.judged_until < WALK_INTERVAL:
            return None
        since = max(position.judged_until, await first_kept(cell))
        until = min(now - GRACE, since + LONGEST_WALK)
        return None if until <= since else AuditPosition(since, until)

    async def _judge_some(self, cell: CellProtocol, wanted: AuditRange, after: tuple[int, UUID]) -> WalkPart:
        answers = CellAnswers(self.store.cells, needs_all=False)
        jobs = judged = 0
        doubtful: list[JobRow] = []
        ended = False
        while not ended and jobs < JOBS_PER_ROUND and judged < FIRES_PER_ROUND:
            page = await read_page(cell, after, PAGE)
            ended = len(page) < PAGE
            if page:
                after = (page[-1].shard, page[-1].id)
                verdicts = await judge_jobs(answers, cell, page, wanted)
                jobs += len(page)
                judged += sum(one.verdict.counts.expected for one in verdicts)
                doubtful += [one.job for one in verdicts if one.verdict.findings]
        again = await judge_again(answers, cell, doubtful, wanted) if doubtful else []
        found = [finding for one in again for finding in one.verdict.findings]
        has_doubt = bool(found and answers.down)
        return WalkPart(BEGINNING if ended else after, ended, [] if has_doubt else found, has_doubt)

    async def _plan_again(self, one: FireFinding) -> None:
        """Let the engine's planning put a cursor right. What it cannot plan stays a finding."""
        try:
            stands = await plan_again(self.store, one.tenant_id, one.job_id)
        except NOT_PLANNED as error:
            log.warning("audit.cursor_not_planned", job=one.job_id, reason=str(error) or type(error).__name__)
        else:
            log.info("audit.cursor_planned", job=one.job_id, name=one.job, stands_at=stands)


def _still(job: JobRow) -> FireFinding:
    assert job.cursor is not None
    return FireFinding(
        fault=FireFault.STANDS_STILL,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job=job.name,
        at=job.cursor,
        said=f"the cursor has stood at {job.cursor} since then",
    )
