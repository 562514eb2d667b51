"""A node's work in one cell, over the shards it holds there."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.jobs import Job
from horae.domain.shares import Class
from horae.domain.targets import PUSHED, secrets_of
from horae.domain.timers import Timer
from horae.engine.accepted import AcceptedWork
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.admission.ready import Ready
from horae.engine.admission.target import Target
from horae.engine.agenda import Agenda
from horae.engine.allowances import Allowances
from horae.engine.backfills import Backfiller
from horae.engine.claim import Claimer
from horae.engine.completer import Completer
from horae.engine.desk import Desk, Hands
from horae.engine.expiry import Expirer
from horae.engine.feeder import LOOK, Feeder
from horae.engine.fire import Firer
from horae.engine.matured import MaturedTimers
from horae.engine.opening import Opener
from horae.engine.quotas.pacing import Pacer
from horae.engine.rescue import Rescuer
from horae.engine.rolling import Roller
from horae.engine.tenancies import Tenancies
from horae.engine.territory import Territory
from horae.engine.zone_rules import ZoneReplanner
from horae.runtime.clock import boottime
from horae.runtime.pace import Pace
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.security.sealing import Sealing
from horae.store.cells import Cell
from horae.store.definitions import Definitions
from horae.store.secret_book import SecretBook
from horae.store.settle import Settler
from horae.store.tx import GONE

SHORTEST_NAP, LONGEST_NAP = 0.01, 1.0
CHUNK: Final = 200
TAKEN_AT_ONCE: Final = 20_000
"""Timers that come out of the agenda before others are let work, in about 20 ms."""
MOST_AHEAD: Final = 20_000
"""Timers whose jobs are learnt in the second before they are due."""
MANY_WAITING: Final = 2_000
"""Timers that wait for their turn from which on nothing is learnt ahead: whatever comes due will wait, too."""
UNGATED: Final = Target()  # a queue bears any number


class Post:
    """Feeds its agenda, hands what matures to the gatekeeper, and carries out at its desk what comes back."""

    def __init__(
        self,
        cell: Cell,
        owner: UUID,
        gatekeeper: Gatekeeper,
        allowances: Allowances,
        sender: Sender,
        pacer: Pacer,
        alive: Callable[[], bool],
        turn: Callable[[], None],
        sealing: Sealing,
        secrets: SecretBook | None = None,
        safety_look: timedelta = LOOK,
    ) -> None:
        self.cell = cell
        self.gatekeeper = gatekeeper
        self.allowances = allowances
        self.turn = turn
        self.secrets = secrets
        self.waker = Waker()
        self.matured_at = boottime()
        self.matured = MaturedTimers(allowances.weight, self._has_enough, self.waker.wake)
        self.territory = Territory()
        self.definitions = Definitions(sealing)
        self.agenda = Agenda(cell.clock.now, self.waker.wake, has_time=cell.clock.was_read)
        self.feeder = Feeder(cell, self.territory, self.agenda, self._waiting, safety_look)
        self.settler = Settler(cell, self.feeder.follow)
        self.rescuer = Rescuer(cell, self.territory, self.definitions, self.settler)
        self.expirer = Expirer(
            cell, self.territory, self.definitions, gatekeeper, self.agenda, self.feeder.follow, self._waiting
        )
        self.tenancies = Tenancies(cell, self.agenda, self.feeder.reset)
        self.firer = Firer(cell, owner, self.feeder.follow, self.tenancies.paused_until)
        self.backfiller = Backfiller(cell, self.territory, self.feeder.follow, lambda: self.tenancies.held)
        self.roller = Roller(cell, self.territory, self.feeder.follow, lambda: self.tenancies.held)
        self.replanner = ZoneReplanner(cell, self.territory, self.feeder.follow)
        self.claimer = Claimer(cell, owner, self._resumed)
        completer = Completer(self.settler, Pace(0.055, 0.012, 0.025))
        self.accepted = AcceptedWork(cell, self.territory, self.definitions, gatekeeper, allowances, turn)
        hands = Hands(self.firer, self.claimer, sender, completer, self.feeder, Opener(sealing), pacer, self.accepted)
        self.desk = Desk(cell, self.agenda, gatekeeper, hands, alive, turn)

    def hold(self, shards: Iterable[int], here: Iterable[int] = ()) -> None:
        """From now on, these of the cell's shards; when some are new, everything is looked at from the beginning."""
        shards = frozenset(shards)
        gained = shards - self.territory.shards
        self.territory.hold(shards, here)
        if gained:
            self.feeder.reset()
            self.rescuer.look_at_all()
            self.accepted.look_at_all()
            self.replanner.look_at(gained, here)

    async def run(self) -> None:
        """Until cancelled: sleep until the next timer, and let it mature."""
        while True:
            try:
                await self.mature()
                self.matured_at = boottime()
            except GONE as error:
                if not self.cell.reach.is_down:
                    log.warning("mature.postponed", cell=self.cell.name, reason=str(error) or type(error).__name__)
                await asyncio.sleep(LONGEST_NAP)
            except Exception:
                log.exception("mature.failed", cell=self.cell.name)
                await asyncio.sleep(LONGEST_NAP)
            await self.waker.wait(self._nap())

    def _nap(self) -> float:
        """Until the next timer, or until something held back may be tried again."""
        if not self.cell.clock.trusted or not self.cell.clock.was_read:
            return LONGEST_NAP
        timer, gate = self.agenda.wait_s(), self.gatekeeper.wait_s()
        if gate == 0:
            self.turn()  # which happens during the nap
            gate = SHORTEST_NAP
        return min(wait for wait in (timer, gate, LONGEST_NAP) if wait is not None)

    async def once(self) -> int:
        """A duty of every second: know the jobs of what comes due next, so that nothing has to be asked then.

        What was left because its job was paused is looked at again when the job goes on.
        """
        await self.claimer.look_at_paused()
        if self._waiting() > MANY_WAITING:
            return 0
        soon = self.agenda.soon()
        for first in range(0, min(len(soon), MOST_AHEAD), CHUNK):
            await self.definitions.of(self.cell, soon[first : first + CHUNK])
        return 0

    async def mature(self) -> int:
        """Hand what has come due to the gatekeeper; returns how many."""
        if not self.cell.clock.trusted or not self.cell.clock.was_read:
            return 0  # whoever keeps the lease says why at every heartbeat; a cell that was down has no timers yet
        done = 0
        while True:
            await self._take_due()
            chunk = self.matured.take(CHUNK)
            if not chunk:
                return done
            try:
                await self._offer(chunk)
            except Exception:
                for timer in chunk:
                    self.agenda.forget(timer)  # known but in no queue they would never be looked at again
                raise
            self.turn()
            self.matured_at = boottime()
            done += len(chunk)
            await asyncio.sleep(0)  # where everything is known nothing above has waited: let the others work too

    async def _take_due(self) -> None:
        """Take all that is due from the agenda before anything is offered.

        It comes out by its time. Whoever has few timers behind very many of one moment would wait for each of those to
        be offered; once all are out, tenants take turns.
        """
        self.matured.add(self.agenda.take(TAKEN_AT_ONCE))
        while self.agenda.has_due:
            await asyncio.sleep(0)
            self.matured.add(self.agenda.take(TAKEN_AT_ONCE))

    def _waiting(self) -> int:
        """How many have come due and were not sent yet."""
        return self.gatekeeper.waiting + len(self.matured)

    def _has_enough(self, tenant: UUID, class_: Class, when_few: Callable[[], None]) -> bool:
        return self.gatekeeper.has_enough(tenant, class_, self.desk, when_few)

    async def _offer(self, timers: Sequence[Timer]) -> None:
        jobs = await self.definitions.of(self.cell, timers)
        await self.allowances.learn(self.cell, {timer.tenant_id for timer in timers})
        await self.tenancies.learn()
        await self._learn_secrets(jobs)
        held = self.tenancies.held
        for timer, job in zip(timers, jobs, strict=True):
            if timer.tenant_id in held:
                self.agenda.forget(timer)
                continue
            if not self._ours(timer):
                continue  # its shard went to another node while it waited here
            if job is None:
                self._await_definition(timer)
            elif isinstance(job.definition.target, PUSHED):
                self.gatekeeper.offer(timer, job, self.desk)
            else:
                self.desk.record(Ready(timer, job, self.desk, UNGATED))

    async def _learn_secrets(self, jobs: Sequence[Job | None]) -> None:
        """Have the secrets at hand that calls of these will need; most need none."""
        if self.secrets is None:
            return
        needed: dict[UUID, set[str]] = {}
        alike = {(id(job.definition.target), job.tenant_id): job for job in jobs if job is not None}
        for job in alike.values():  # equal targets are one object, as they were read
            if names := secrets_of(job.definition.target):
                needed.setdefault(job.tenant_id, set()).update(names)
        if needed:
            await self.secrets.learn(self.cell, needed)

    async def drain(self) -> int:
        """Everything that is due and may go now, to the end; returns how much that was since the last time."""
        done = await self.rescuer.once() + await self.expirer.once()
        await self.claimer.look_at_paused()
        await self.tenancies.learn(anew=True)
        await self.accepted.once()
        await self.backfiller.once()
        await self.roller.whole()
        await self.feeder.look()
        await self.mature()
        self.gatekeeper.dispatch()
        await self.desk.idle()
        carried = self.desk.done - self.firer.unread
        self.desk.done = self.firer.unread = 0
        return done + carried

    def _resumed(self, earliest: datetime, latest: datetime) -> None:
        """Jobs go on of which something was due between these times, and was left."""
        self.feeder.name(earliest, latest)
        self.agenda.hungry()

    def _ours(self, timer: Timer) -> bool:
        if timer.shard in self.territory.shards:
            return True
        self.agenda.forget(timer)
        return False

    def _await_definition(self, timer: Timer) -> None:
        """Its definition is not to be had, or is of a later release: that ends no schedule, a later look asks again.

        A type that was made in another cell just now is still being copied.
        """
        self.agenda.forget(timer)
        if timer.fired is not None:
            log.warning("definition.missing", job=str(timer.job_id), version=timer.version, cell=self.cell.name)
