"""The work of a node in one cell, on the shards that it holds there."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.jobs.jobs import Job
from horae.domain.limits.shares import Class
from horae.domain.measures.in_force import NO_MEASURES, MeasuresInForce, withheld_classes
from horae.domain.measures.measures import MeasureAction
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import PUSHED, secrets_of
from horae.engine.accepted import AcceptedWork
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import DueCall, Target, Turns
from horae.engine.agenda import Agenda
from horae.engine.allowances import Allowances
from horae.engine.backfills import Backfiller
from horae.engine.claim import Claimer
from horae.engine.completer import Completer, result_pace
from horae.engine.dispatcher import Dispatcher, DispatcherParts
from horae.engine.due_timers import DueTimers
from horae.engine.expiry import Expirer
from horae.engine.feeder import LOOK_INTERVAL, Feeder
from horae.engine.fire import Firer
from horae.engine.flights import FlightParts, Flights
from horae.engine.graph_successors import SuccessorReleaser
from horae.engine.graphs import GraphRunner
from horae.engine.held_tenants import Tenancies
from horae.engine.leases.keeper import NodeIdentity
from horae.engine.long_retries import LongRetries
from horae.engine.payloads import Opener
from horae.engine.quotas.pacing import Pacer
from horae.engine.rescue import Rescuer
from horae.engine.rolling import Roller
from horae.engine.territory import Territory
from horae.engine.zone_rules import ZoneReplanner
from horae.repositories.definitions import Definitions
from horae.repositories.job_durations import JobDurations
from horae.repositories.secret_book import SecretBook
from horae.repositories.settle import Settler
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.security.payload_cipher import PayloadCipher
from horae.store.cells import Cell
from horae.store.tx import GONE

MIN_NAP_S: Final = 0.01
"""The shortest sleep between two looks at the agenda."""
MAX_NAP_S: Final = 1.0
"""The longest sleep between two looks at the agenda."""
CHUNK: Final = 200
TAKEN_AT_ONCE: Final = 20_000
"""Timers that are taken out of the agenda before other tasks may run: about 20 ms."""
MOST_AHEAD: Final = 20_000
"""Timers whose definitions are loaded in the second before they are due."""
MANY_WAITING: Final = 2_000
"""Waiting calls from which on no definition is loaded ahead: what is due next will wait, too."""
UNGATED: Final = Target()  # for jobs without a URL: their instances wait in a queue


class CellRunner:
    """One cell: the feeder fills the agenda, due timers go to admission, admitted calls go to the dispatcher."""

    def __init__(
        self,
        cell: Cell,
        identity: NodeIdentity,
        admission: Admission,
        allowances: Allowances,
        sender: Sender,
        pacer: Pacer,
        alive: Callable[[], bool],
        turn: Callable[[], None],
        cipher: PayloadCipher,
        durations: JobDurations,
        hungry: Callable[[], None],
        prompt_graphs: Callable[[], None],
        secrets: SecretBook | None = None,
        safety_look: timedelta = LOOK_INTERVAL,
    ) -> None:
        """`hungry` wakes the loop of the feeder, because it can read on; `prompt_graphs` that of graphs."""
        cipher, owner = cipher.promptly(), identity.incarnation
        self.cell = cell
        self.admission = admission
        self.allowances = allowances
        self.turn = turn
        self.secrets = secrets
        self.waker = Waker()
        self.offered_at = boottime()
        self._withholds_tenants = False
        self.due_timers = DueTimers(allowances.weight, self._has_enough, self.waker.wake)
        self.territory = Territory()
        self.definitions = Definitions(cipher)
        self.agenda = Agenda(cell.clock.now, self.waker.wake, hungry, has_time=cell.clock.was_read)
        self.feeder = Feeder(cell, self.territory, self.agenda, self._count_waiting, safety_look)
        self.settler = Settler(
            cell,
            self.feeder.announce,
            sender.tracer,
            durations,
            cipher,
            step_ended=lambda _shard: prompt_graphs(),
            recorder=SuccessorReleaser(self.territory, self.definitions, lambda: self.tenancies.held),
        )
        self.long_retries = LongRetries(durations.of, self.agenda.forget)
        self.rescuer = Rescuer(cell, self.territory, self.definitions, self.settler)
        self.expirer = Expirer(
            cell, self.territory, self.definitions, admission, self.agenda, self.feeder.announce, self._count_waiting
        )
        self.tenancies = Tenancies(cell, self.agenda, self.feeder.reset)
        self.firer = Firer(cell, owner, self.feeder.announce, self.tenancies.paused_until)
        self.backfiller = Backfiller(cell, self.territory, self.feeder.announce, lambda: self.tenancies.held)
        self.roller = Roller(cell, self.territory, self.feeder.announce, lambda: self.tenancies.held)
        self.graph_runner = GraphRunner(
            cell, self.territory, self.definitions, self.settler, self.feeder.announce, lambda: self.tenancies.held
        )
        self.replanner = ZoneReplanner(cell, self.territory, self.feeder.announce)
        self.claimer = Claimer(cell, owner, self._on_resume)
        completer = Completer(self.settler, result_pace())
        self.accepted = AcceptedWork(cell, self.territory, self.definitions, admission, allowances, turn)
        through = FlightParts(sender, completer, Opener(cipher), pacer, self.accepted)
        self.flights = Flights(cell, admission, through, alive, turn, identity.name)
        parts = DispatcherParts(self.firer, self.claimer, self.feeder)
        self.dispatcher = Dispatcher(cell, self.agenda, admission, parts, self.flights, alive, turn)

    def hold(self, shards: Iterable[int], here: Iterable[int] = ()) -> None:
        """Work on these shards from now on. If some are new, read everything from the beginning.

        `here` are all shards of the cell.
        """
        shards = frozenset(shards)
        gained = shards - self.territory.shards
        self.territory.hold(shards, here)
        if gained:
            self.feeder.reset()
            self.rescuer.request_full_scan()
            self.accepted.request_full_scan()
            self.replanner.look_at(gained, here)

    def follow_measures(self, measures: MeasuresInForce) -> None:
        """Note which measures are in force. What they have withheld until now is read again."""
        before, closed = self.agenda.withheld_classes, withheld_classes(measures.platform)
        self.agenda.withheld_classes = closed
        self.agenda.critical_first = MeasureAction.CRITICAL_FIRST in measures.platform
        self.firer.follow_measures(measures)
        self.long_retries.follow(measures, self.cell.clock.now())
        self.waker.wake()
        if before - closed or self._withholds_tenants:
            self.feeder.reset()
        self._withholds_tenants = bool(measures.tenants)

    async def run(self) -> None:
        """Until cancelled: sleep until the next timer is due, and offer due timers to admission."""
        while True:
            try:
                await self.offer_due()
                self.offered_at = boottime()
            except GONE as error:
                if not self.cell.reach.is_down:
                    log.warning("dispatch.postponed", cell=self.cell.name, reason=str(error) or type(error).__name__)
                await asyncio.sleep(MAX_NAP_S)
            except Exception:
                log.exception("dispatch.failed", cell=self.cell.name)
                await asyncio.sleep(MAX_NAP_S)
            await self.waker.wait(self._wait_s())

    def _wait_s(self) -> float:
        """Seconds until the next timer is due, or until a target that holds calls back may be tried again."""
        if not self.cell.clock.trusted or not self.cell.clock.was_read:
            return MAX_NAP_S
        timer, gate = self.agenda.wait_s(), self.admission.wait_s()
        retry = self.long_retries.wait_s(self.cell.clock.now())
        if gate == 0:
            self.turn()  # admission runs during the nap
            gate = MIN_NAP_S
        return min(wait for wait in (timer, gate, retry, MAX_NAP_S) if wait is not None)

    async def once(self) -> int:
        """A duty of every second: load the definitions of timers that are due next; returns 0.

        It also checks whether paused jobs with due instances have been resumed.
        """
        await self.claimer.look_at_paused()
        if self._count_waiting() > MANY_WAITING:
            return 0
        soon = self.agenda.soon()
        for first in range(0, min(len(soon), MOST_AHEAD), CHUNK):
            await self.definitions.of(self.cell, soon[first : first + CHUNK])
        return 0

    async def offer_due(self) -> int:
        """Offer due timers to admission, overdue ones last; returns how many."""
        if not self.cell.clock.trusted or not self.cell.clock.was_read:
            return 0  # the lease keeper logs a jumped clock at every heartbeat; a cell that was down has no timers yet
        done = 0
        while True:
            await self._take_due()
            now = self.cell.clock.now()
            self.due_timers.add(self.long_retries.pop_due(now, CHUNK), now)
            chunk, are_overdue = self.due_timers.take(CHUNK)
            if not chunk:
                return done
            try:
                await self._offer(self.long_retries.hold_back(chunk, now), are_overdue=are_overdue)
            except Exception:
                for timer in chunk:
                    self.agenda.forget(timer)  # a timer that is known but in no queue would never fire
                raise
            self.turn()
            self.offered_at = boottime()
            done += len(chunk)
            await asyncio.sleep(0)  # if everything was in memory, nothing above has waited: let other tasks run

    async def _take_due(self) -> None:
        """Take all due timers out of the agenda before any is offered.

        The agenda orders timers by time. A tenant with few timers would wait behind another tenant's many timers of the
        same moment. Once all due timers are out, tenants take turns.
        """
        self.due_timers.add(self.agenda.take(TAKEN_AT_ONCE), self.cell.clock.now())
        while self.agenda.has_due:
            await asyncio.sleep(0)
            self.due_timers.add(self.agenda.take(TAKEN_AT_ONCE), self.cell.clock.now())

    def _count_waiting(self) -> int:
        """How many timers are due and not sent yet."""
        return self.admission.waiting + len(self.due_timers)

    def _has_enough(self, tenant: UUID, class_: Class, when_few: Callable[[], None], *, are_overdue: bool) -> bool:
        return self.admission.has_enough(Turns(tenant, class_, self.dispatcher, are_overdue), when_few)

    async def _offer(self, timers: Sequence[Timer], *, are_overdue: bool) -> None:
        jobs = await self.definitions.of(self.cell, timers)
        await self.allowances.learn(self.cell, {timer.tenant_id for timer in timers})
        await self.tenancies.learn()
        await self._learn_secrets(jobs)
        held, measures = self.tenancies.held, self.admission.measures
        for timer, job in zip(timers, jobs, strict=True):
            if timer.tenant_id in held:
                self.agenda.forget(timer)
                continue
            if not self._is_ours(timer):
                continue  # its shard went to another node meanwhile
            if job is None:
                self._await_definition(timer)
            elif isinstance(job.definition.target, PUSHED):
                self.admission.offer(timer, job, self.dispatcher, is_overdue=are_overdue)
            elif measures is not NO_MEASURES and measures.withholds(timer.tenant_id, timer.priority):
                self.agenda.forget(timer)  # its row is read again when the measure ends
            else:
                self.dispatcher.record(DueCall(timer, job, self.dispatcher, UNGATED))

    async def _learn_secrets(self, jobs: Sequence[Job | None]) -> None:
        """Load the secrets that calls of these jobs need. Most need none."""
        if self.secrets is None:
            return
        needed: dict[UUID, set[str]] = {}
        alike = {(id(job.definition.target), job.tenant_id): job for job in jobs if job is not None}
        for job in alike.values():  # definitions share equal targets as one object, so each is looked at once
            if names := secrets_of(job.definition.target):
                needed.setdefault(job.tenant_id, set()).update(names)
        if needed:
            await self.secrets.learn(self.cell, needed)

    async def drain(self) -> int:
        """Do everything that is due and may go now; returns how much was done since the last call."""
        done = await self.rescuer.once() + await self.expirer.once()
        await self.claimer.look_at_paused()
        await self.tenancies.learn(force=True)
        await self.accepted.once()
        await self.backfiller.once()
        await self.roller.run_all()
        done += await self.graph_runner.run_all()
        return done + await self.fire_due()

    async def fire_due(self) -> int:
        """Read, fire and send only what is due in the rows, and wait for the results; returns how much was done."""
        await self.feeder.look()
        await self.offer_due()
        self.admission.dispatch()
        await self.dispatcher.wait_until_idle()
        carried = self.dispatcher.done - self.firer.unread
        self.dispatcher.done = self.firer.unread = 0
        return carried

    def _on_resume(self, earliest: datetime, latest: datetime) -> None:
        """Paused jobs were resumed: scan for their instances, which were due between these times."""
        self.feeder.read_between(earliest, latest)
        self.agenda.on_room()

    def _is_ours(self, timer: Timer) -> bool:
        if timer.shard in self.territory.shards:
            return True
        self.agenda.forget(timer)
        return False

    def _await_definition(self, timer: Timer) -> None:
        """Forget a timer whose definition is missing or of a later release. A later scan finds its row again.

        The definition of a type that was just created in another cell may not have been copied yet.
        """
        self.agenda.forget(timer)
        if timer.fired is not None:
            facts = {"tenant": timer.tenant_id, "job": timer.job_id, "version": timer.version}
            log.warning("definition.missing", **facts, cell=self.cell.name)
