"""Work that a target has accepted (202) counts against concurrency limits until it ends.

The target reports the end to an API server, which is another process, or the deadline passes. Either way the row
shows it. The argument:

1. The node that got the 202 keeps the permits. It asks every second which of the attempts still run.
2. A node that takes shards over reads the accepted work there before it admits a call that a concurrency limit counts.
   It takes permits for that work as far as there are some. The rest is owed, and is taken before any waiting call gets
   one. Meanwhile other nodes may have taken permits of the dead node: until calls end, that many more run.
3. A node that loses a shard while it lives goes on counting the work it landed. The new owner may count it, too: until
   that work ends, the limit is stricter than it should be.
4. A retried instance may be accepted again before step 1 notices the end of the first attempt. Each attempt gives back
   its own permits.
5. A node keeps the numbers of an attempt, not its payload. It counts `MAX_ACCEPTED_PER_TENANT` attempts of a tenant;
   further calls that a concurrency limit counts wait until some have ended.
6. If the cell cannot be asked, nothing is given back: the limit holds, and calls that wait for it go on waiting.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Instance
from horae.domain.limits.limits import Key
from horae.domain.placement import Run
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.admission import Admission
from horae.engine.allowances import Allowances
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.store.cells import Cell
from horae.store.instances import instances
from horae.store.instances.instances import AcceptedAttempt
from horae.store.nodes.scans import BEGINNING

PAGE: Final = 500
PAGES_PER_ROUND: Final = 20
"""Pages of attempts that a round asks about. The next round continues after them."""
AttemptKey = tuple[UUID, int]
"""An instance, and the number of its attempt."""


class CountedAttempt(NamedTuple):
    """An accepted attempt, and the limits that count it on this node."""

    ran: AcceptedAttempt
    keys: tuple[Key, ...]


class AcceptedWork:
    """A duty of every second, in one cell. It sends no statement while no limit counts accepted work."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        definitions: Definitions,
        admission: Admission,
        allowances: Allowances,
        turn: Callable[[], None],
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.admission = admission
        self.allowances = allowances
        self.turn = turn
        self._counted: dict[AttemptKey, CountedAttempt] = {}
        self._unread = False
        self._limits = admission.limits

    def keep(self, ran: Instance, keys: tuple[Key, ...]) -> None:
        """Keep the permits of an accepted attempt until it ends."""
        tenant, job = ran.tenant_id, ran.job_id
        self._keep(
            AcceptedAttempt(ran.shard, ran.id, ran.attempt, ran.token, tenant, job, ran.job_version, ran.deadline), keys
        )

    def request_full_scan(self) -> None:
        """Read the accepted work of shards that were taken over in the next round: perhaps no node counts it."""
        self._unread = True
        if self._limits is not None:
            self._limits.block(self)

    async def once(self) -> int:
        """Count work that was taken over, and give back the permits of work that has ended; returns 0."""
        if self._unread:
            await self._read_all()
        if self._limits is None or not self._counted:
            return 0
        asked = list(islice(self._counted.items(), PAGE * PAGES_PER_ROUND))
        ended = await self._find_ended([counted.ran for _, counted in asked])
        for key, counted in asked:
            del self._counted[key]
            if key not in ended:
                self._counted[key] = counted  # moves to the end: the others are asked about next
                continue
            self._limits.release(counted.keys)
            self._limits.end_accepted(counted.ran.tenant_id)
            self.turn()
        self._limits.take_all_owed()
        return 0

    def _keep(self, ran: AcceptedAttempt, keys: tuple[Key, ...]) -> None:
        assert self._limits is not None
        self._counted[ran.id, ran.attempt] = CountedAttempt(ran, keys)
        self._limits.add_accepted(ran.tenant_id)

    async def _find_ended(self, attempts: Sequence[AcceptedAttempt]) -> set[AttemptKey]:
        ended: set[AttemptKey] = set()
        for first in range(0, len(attempts), PAGE):
            page = attempts[first : first + PAGE]
            async with self.cell.statement() as tx:
                running = await instances.running(tx, page)
            ended |= {key for ran in page if (key := (ran.id, ran.attempt)) not in running}
        return ended

    async def _read_all(self) -> None:
        self._unread = False
        try:
            for run in self.territory.runs:
                await self._read(run)
        except BaseException:
            self._unblock()  # other cells must not wait for a cell that does not answer
            self._unread = True
            raise
        if not self._unread:  # otherwise more shards were gained meanwhile
            self._unblock()

    def _unblock(self) -> None:
        if self._limits is not None:
            self._limits.unblock(self)
        self.turn()

    async def _read(self, run: Run) -> None:
        after = (BEGINNING, UUID(int=0))
        while True:
            async with self.cell.statement() as tx:
                page = await instances.accepted(tx, run, after, PAGE)
            if not page:
                return
            wanted = {(ran.shard, ran.job_id, ran.job_version) for ran in page}
            known = await self.definitions.load_from(self.cell, wanted)
            await self.allowances.learn(self.cell, {ran.tenant_id for ran in page})
            for ran in page:
                job = known.get((ran.job_id, ran.job_version))
                if (
                    job is None
                    or not isinstance(job.definition.target, PUSHED)
                    or (ran.id, ran.attempt) in self._counted
                ):
                    continue
                if keys := self.admission.count_accepted(job):
                    self._keep(ran, keys)
            last = page[-1]
            assert last.deadline is not None
            after = (last.deadline, last.id)
