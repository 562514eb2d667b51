"""Work that a target has accepted (202) goes on counting against the limits of how much runs at once until it ends.

Its end is told to the API, by another process, or its deadline passes: the row says so. The argument:

1. The node that lands the answer keeps the permits, and asks every second which of the attempts still run.
2. A node that takes shards over reads what was accepted there before it lets any call pass that such a limit counts. It
   takes permits for it as far as there are any; the rest is owed, and comes before those who wait. Other nodes may have
   taken permits of the node that is gone meanwhile: until calls end there are as many more.
3. A node that lives and loses a shard goes on counting what it landed. The new holder may count it too: the limit is
   kept too strictly then, until that work ends.
4. An instance that is tried again may be accepted again before that was asked: each attempt gives back its own permits.
5. Of an attempt its numbers are kept, not its payload. A node counts `MAX_ACCEPTED_PER_TENANT` of a tenant: further
   calls that such a limit counts wait until some have ended.
6. Where the cell cannot be asked nothing is given back: the limit holds, and what waits for it waits.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances import Instance
from horae.domain.limits import Key
from horae.domain.placement import Run
from horae.domain.targets import PUSHED
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.allowances import Allowances
from horae.engine.territory import Territory
from horae.store import instances
from horae.store.cells import Cell
from horae.store.definitions import Definitions
from horae.store.instances import AcceptedAttempt
from horae.store.looks import BEGINNING

PAGE: Final = 500
PAGES_PER_ROUND: Final = 20
"""Pages of attempts that are asked about each second; the next round goes on behind them."""
AttemptKey = tuple[UUID, int]
"""An instance, and the number of its attempt."""


class CountedAttempt(NamedTuple):
    """An accepted attempt, and the limits that count it here."""

    ran: AcceptedAttempt
    keys: tuple[Key, ...]


class AcceptedWork:
    """A duty of every second, of one cell. It asks nothing while no limit counts what was accepted."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        definitions: Definitions,
        gatekeeper: Gatekeeper,
        allowances: Allowances,
        turn: Callable[[], None],
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.gatekeeper = gatekeeper
        self.allowances = allowances
        self.turn = turn
        self._counted: dict[AttemptKey, CountedAttempt] = {}
        self._unread = False
        self._limits = gatekeeper.limits

    def keep(self, ran: Instance, keys: tuple[Key, ...]) -> None:
        """A target has accepted an attempt; its permits are given back when it ends."""
        tenant, job = ran.tenant_id, ran.job_id
        self._keep(
            AcceptedAttempt(ran.shard, ran.id, ran.attempt, ran.token, tenant, job, ran.job_version, ran.deadline), keys
        )

    def look_at_all(self) -> None:
        """Shards were taken over: what was accepted there may be counted by nobody."""
        self._unread = True
        if self._limits is not None:
            self._limits.stand_still(self)

    async def once(self) -> int:
        """Count what was taken over, and give back the permits of what has ended; returns 0."""
        if self._unread:
            await self._read_all()
        if self._limits is None or not self._counted:
            return 0
        asked = list(islice(self._counted.items(), PAGE * PAGES_PER_ROUND))
        ended = await self._ended([counted.ran for _, counted in asked])
        for key, counted in asked:
            del self._counted[key]
            if key not in ended:
                self._counted[key] = counted  # behind the others, which are asked about next
                continue
            self._limits.release(counted.keys)
            self._limits.end_accepted(counted.ran.tenant_id)
            self.turn()
        self._limits.pay_all()
        return 0

    def _keep(self, ran: AcceptedAttempt, keys: tuple[Key, ...]) -> None:
        assert self._limits is not None
        self._counted[ran.id, ran.attempt] = CountedAttempt(ran, keys)
        self._limits.add_accepted(ran.tenant_id)

    async def _ended(self, attempts: Sequence[AcceptedAttempt]) -> set[AttemptKey]:
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
            self._go_on()  # the other cells must not wait for one that does not answer
            self._unread = True
            raise
        if not self._unread:  # else there are still more shards
            self._go_on()

    def _go_on(self) -> None:
        if self._limits is not None:
            self._limits.go_on(self)
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
                if keys := self.gatekeeper.count_accepted(job):
                    self._keep(ran, keys)
            last = page[-1]
            assert last.deadline is not None
            after = (last.deadline, last.id)
