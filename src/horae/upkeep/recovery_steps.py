"""The coordinator of one incident: does the steps of recovery one after another, and can stop after any statement.

1. The record names the step that is to be done next. A coordinator that was killed is followed by another one, as soon
   as the lease of the first has run out.
2. A step that changes something writes its entry of the timeline in the same transaction, so nothing is done twice.
3. A step that cannot be done now is tried again in the next round. At its deadline recovery goes on without it, and
   the timeline says what was missing.
4. While the incident is open, what it froze is renewed. If nobody works on it any more, that ends by itself.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.incidents.incidents import (
    REQUEUED_TAG,
    Incident,
    IncidentResult,
    RecoveryStep,
    next_step,
    summarize,
)
from horae.domain.instances.instances import Priority
from horae.domain.limits.shares import OVERDUE_AFTER
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureName, MeasureOverride
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Answers, ask_by_statement, ask_each, ask_first
from horae.store.incidents import effects, entries, incidents
from horae.store.measures import measures, records
from horae.store.nodes import shards
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants
from horae.store.tx import Tx
from horae.upkeep.recovery_audit import audit_incident
from horae.upkeep.recovery_replays import replay_events, requeue_dead_letters

Answer = TypeVar("Answer")
ACTOR: Final = "recovery"
LEASE_TTL: Final = timedelta(seconds=15)
"""How long a coordinator has an incident without renewing its lease."""
FREEZE_LASTS: Final = timedelta(minutes=10)
"""How long the freeze lasts if nobody renews it."""
FREEZE_RENEWED: Final = timedelta(minutes=5)
"""The freeze is renewed when it would end within this time."""
MAX_COUNTED: Final = 1000
"""Overdue fires of a class that are counted."""
LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
STOPPED_BY: Final[tuple[type[Exception], ...]] = (*UNSERVED_OR_MOVING, HoraeError)
"""Errors after which a step waits for the next round."""


class StepReport(NamedTuple):
    """The figures of a step for the timeline. `waits_for` says why it is not done yet; None: it is done."""

    facts: Mapping[str, Any]
    waits_for: str | None = None


class RecoveryCoordinator:
    """One coordinator of one incident, whose record is in the cell `home`."""

    def __init__(self, store: StoreProtocol, home: CellProtocol, coordinator: UUID) -> None:
        self.store = store
        self.home = home
        self._me = coordinator
        self._frozen_until: dict[str, datetime] = {}
        self._error: str | None = None
        self._steps: dict[RecoveryStep, Callable[[Incident], Awaitable[StepReport]]] = {
            RecoveryStep.FREEZE: self.freeze,
            RecoveryStep.REACH_CELLS: self.reach_cells,
            RecoveryStep.HOLD_SHARDS: self.hold_shards,
            RecoveryStep.FIRE_CRITICAL: partial(self.fire, priority=Priority.CRITICAL),
            RecoveryStep.CATCH_UP: partial(self.fire, priority=Priority.NORMAL),
            RecoveryStep.REPLAY_EVENTS: self.replay_events,
            RecoveryStep.REQUEUE: self.requeue,
            RecoveryStep.AUDIT: self.audit,
            RecoveryStep.LIFT: self.lift,
        }

    async def run(self, incident: Incident) -> int:
        """Do steps until the incident has ended, has to wait, or another coordinator has it. Returns how many."""
        done, current = 0, await self.renew_lease(incident)
        while current is not None and current.step in self._steps:
            current = await self.do_step(current)
            done += current is not None
        return done

    async def renew_lease(self, incident: Incident) -> Incident | None:
        """Become or stay the coordinator. None: another one is it, or the incident has ended."""
        return await self._at_home(lambda tx: incidents.take(tx, incident.id, self._me, LEASE_TTL))

    async def do_step(self, incident: Incident) -> Incident | None:
        """Do the next step. Returns the incident at the step after it; None where it has to wait."""
        if incident.stop_requested and incident.step != RecoveryStep.LIFT:
            return await self._advance(incident, RecoveryStep.LIFT, {"stopped": True})
        try:
            if incident.step not in (RecoveryStep.FREEZE, RecoveryStep.LIFT):
                await self._freeze_cells(incident)
            report = await self._steps[incident.step](incident)
        except STOPPED_BY as error:
            report = StepReport({}, str(error) or type(error).__name__)
        except Exception as error:  # the time limit of the step counts all the same: nothing stays frozen for ever
            log.exception("recovery.step_failed", incident=incident.id, step=incident.step)
            report = StepReport({}, f"an error of ours ({type(error).__name__})")
        if report.waits_for is None:
            return await self._advance(incident, next_step(incident.step), report.facts)
        if incident.is_late(self.home.clock.now()):
            log.warning("recovery.step_given_up", incident=incident.id, step=incident.step, reason=report.waits_for)
            missing = {**report.facts, "missing": report.waits_for}
            return await self._advance(incident, next_step(incident.step), missing)
        await self._wait(incident, report.waits_for)
        return None

    async def freeze(self, incident: Incident) -> StepReport:
        """Withhold low priority, close the entrance of backfills, and let critical work go first, in every cell."""
        await self._freeze_cells(incident)
        return StepReport({"cells": sorted(self._frozen_until)})

    async def reach_cells(self, _incident: Incident) -> StepReport:
        """Wait until every cell answers, and note whether one may have lost acknowledged writes."""
        found, down = await ask_each(self.store.cells, partial(ask_by_statement, effects.loses_no_commits))
        rpo_s = 0.0 if all(found.values()) and not down else None
        facts = {"cells": len(found), "rpo_s": rpo_s}
        return StepReport(facts, f"{', '.join(down)} does not answer" if down else None)

    async def hold_shards(self, _incident: Incident) -> StepReport:
        """Wait until living nodes hold all shards of the cells that answer."""
        known = await self._ask(shards.active)
        unheld = sum((await self._ask(shards.unheld)).values())
        facts = {"shards": sum(map(len, known.values())) - unheld, "unheld": unheld}
        return StepReport(facts, f"no node holds {unheld} shards" if unheld else None)

    async def fire(self, _incident: Incident, priority: Priority) -> StepReport:
        """Wait until no fire of this priority or a higher one is overdue."""

        async def look(tx: Tx) -> int:
            return await effects.overdue(tx, priority, tx.now - OVERDUE_AFTER, MAX_COUNTED)

        overdue = sum((await self._ask(look)).values())
        return StepReport({"overdue": overdue}, f"{overdue} fires are overdue" if overdue else None)

    async def replay_events(self, incident: Incident) -> StepReport:
        """Send the events of the last 15 minutes again to every subscription."""
        down = await replay_events(self.store, incident)
        return StepReport({}, f"{', '.join(down)} does not answer" if down else None)

    async def requeue(self, incident: Incident) -> StepReport:
        """Replay dead letters, one page in each round."""
        done = await requeue_dead_letters(self.store, incident, ACTOR)
        facts = {"tag": REQUEUED_TAG}
        if done.down:
            return StepReport(facts, f"{', '.join(done.down)} does not answer")
        return StepReport(facts, None if done.is_last else "more dead letters are to be replayed")

    async def audit(self, incident: Incident) -> StepReport:
        """Compare the fires of the incident with those that should exist."""

        async def is_ours() -> bool:
            return await self.renew_lease(incident) is not None

        found = await audit_incident(self.store, self.home, incident, is_ours)
        return StepReport({}, "fires are audited two minutes later") if found is None else StepReport(found)

    async def lift(self, _incident: Incident) -> StepReport:
        """End what `freeze` began, in every cell."""
        found, down = await _decide(self.store.cells, None)
        facts = {"cells": sorted(cell.name for cell in found)}
        return StepReport(facts, f"{', '.join(down)} does not answer" if down else None)

    async def _freeze_cells(self, incident: Incident) -> None:
        """Freeze the cells whose freeze would end soon. A cell that is down is frozen when it answers again."""
        now = self.home.clock.now()
        ending = [cell for cell in self.store.cells if self._ends(cell) < now + FREEZE_RENEWED]
        if not ending:
            return
        reason = f"{public(Prefix.INCIDENT, incident.id)}: {incident.reason}"
        decided = MeasureOverride(True, now + FREEZE_LASTS, ACTOR, reason)
        for cell in (await _decide(ending, decided)).found:
            self._frozen_until[cell.name] = decided.until

    def _ends(self, cell: CellProtocol) -> datetime:
        return self._frozen_until.get(cell.name, LONG_AGO)

    async def _advance(self, incident: Incident, step: RecoveryStep, facts: Mapping[str, Any]) -> Incident | None:
        """Go on to another step and write what was done, in one transaction."""
        if step == RecoveryStep.ENDED:
            return await self._end(incident, facts)

        async def work(tx: Tx) -> Incident | None:
            advanced = await incidents.advance(tx, incident, self._me, step)
            if advanced is not None:
                await entries.append(tx, incident.id, incident.step, "", facts)
            return advanced

        self._error = None
        log.info("recovery.step_done", incident=incident.id, step=incident.step, facts=dict(facts))
        return await self._at_home(work)

    async def _end(self, incident: Incident, facts: Mapping[str, Any]) -> Incident | None:
        """End the incident, with its event and audit row."""
        result = IncidentResult.STOPPED if incident.stop_requested else IncidentResult.RECOVERY_COMPLETED
        system = await ask_first(self.store.cells, lambda tx: tenants.find_copy(tx, SYSTEM))
        found = await self._ask_cells(self._entries(incident))
        summary = summarize(incident, [one for own in found.values() for one in own])
        shard = min(self.store.shards_of(self.home))
        name = public(Prefix.INCIDENT, incident.id)
        said = {"incident": name, "grade": incident.grade, "result": result, **summary._asdict()}

        async def work(tx: Tx) -> Incident | None:
            ended = await incidents.advance(tx, incident, self._me, RecoveryStep.ENDED, result)
            if ended is not None:
                await entries.append(tx, incident.id, incident.step, "", facts)
                await entries.append(tx, incident.id, RecoveryStep.ENDED, "", said)
                if system is not None and result == IncidentResult.RECOVERY_COMPLETED:
                    event = Event.RECOVERY_COMPLETED
                    await records.append(tx, shard, system.id, event, actor=ACTOR, resource=name, detail=said)
            return ended

        ended = await self._at_home(work)
        if ended is not None:
            log.info("recovery.ended", incident=incident.id, result=result, rto_s=summary.rto_s, rpo_s=summary.rpo_s)
        return ended

    async def _wait(self, incident: Incident, reason: str) -> None:
        """Record what the step waits for, when that changes."""
        if reason != self._error:
            self._error = reason
            await self._at_home(lambda tx: incidents.record_error(tx, incident.id, self._me, reason[:500]))

    def _entries(self, incident: Incident) -> Callable[[CellProtocol], Awaitable[list[Any]]]:
        async def look(cell: CellProtocol) -> list[Any]:
            async with cell.statement() as tx:
                return list(await entries.listing(tx, incident.id, cell.name))

        return look

    async def _ask(self, look: Callable[[Tx], Awaitable[Answer]]) -> dict[CellProtocol, Answer]:
        """What the cells answer. Those that are down are left out: an earlier step waited for them."""
        return await self._ask_cells(partial(ask_by_statement, look))

    async def _ask_cells(self, ask: Callable[[CellProtocol], Awaitable[Answer]]) -> dict[CellProtocol, Answer]:
        return (await ask_each(self.store.cells, ask)).found

    async def _at_home(self, work: Callable[[Tx], Awaitable[Answer]]) -> Answer:
        return await self.home.run(work)


async def _decide(cells: Sequence[CellProtocol], decided: MeasureOverride | None) -> Answers[CellProtocol, None]:
    """Set the measure of incidents in these cells; None ends it."""

    async def write(cell: CellProtocol) -> None:
        await cell.run(
            lambda tx: measures.override(tx, name=MeasureName.INCIDENT, tenant_id=PLATFORM_SCOPE, decided=decided)
        )

    return await ask_each(cells, write)
