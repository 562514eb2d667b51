"""Judges protective measures once a minute, and tells the parts of a process which of them are in force.

1. One node judges: the one that holds the first shard of the first cell that answers. It reads the signals of the last
   whole minute in every cell, adds them up, and writes the judgement to every cell.
2. Every process reads the measures of its cells every second or two: a node while the pulse shows that there are some.
   Of several cells the latest judgement counts.
3. A measure that is not judged any more ends by itself (`MeasureState.expires_at`), even if it cannot be read.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.events.events import Event
from horae.domain.health.signals import NOBODY
from horae.domain.ids import shard_in
from horae.domain.measures.causes import MeasureSignal, ScopeReading, add_signals, judge_scopes
from horae.domain.measures.in_force import NO_MEASURES, MeasuresInForce, in_force
from horae.domain.measures.judgement import LinePosition, advance, compare
from horae.domain.measures.measures import (
    DEFAULT_LINES,
    JUDGED,
    JUDGEMENT_LIFETIME,
    LEVELS,
    PLATFORM_SCOPE,
    MeasureLines,
    MeasureName,
    MeasureState,
    latest,
)
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.telemetry import log
from horae.service.health.delay_causes import explain_delays
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Visits, ask_first
from horae.store.health import signals
from horae.store.health.signals import JudgedSignal
from horae.store.measures import measures, records
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants
from horae.store.tx import Tx

MINUTE: Final = timedelta(minutes=1)
RATE_SPAN: Final = timedelta(minutes=10)
Key = tuple[UUID, MeasureName]


class JudgedFacts(NamedTuple):
    """What the judge reads in one cell."""

    signals: Mapping[UUID, JudgedSignal]
    states: list[MeasureState]
    lines: Mapping[UUID, MeasureLines]


class MeasureJudge:
    """A duty of every few seconds; it judges when a minute has ended. `judges`: whether this node is the one."""

    def __init__(
        self,
        store: StoreProtocol,
        judges: Callable[[], bool],
        lines: MeasureLines = DEFAULT_LINES,
        *,
        acts: bool = True,
    ) -> None:
        self.store = store
        self.judges = judges
        self.lines = lines
        self.acts = acts
        self._visits = Visits("measurejudge")
        self._facts: dict[str, JudgedFacts] = {}
        self._states: list[MeasureState] = []
        self._judged: datetime | None = None
        self._is_new = True

    async def once(self) -> int:
        """Judge the last whole minute, if that was not done; returns how many measures changed their level."""
        minute = self.store.clock.now().replace(second=0, microsecond=0) - MINUTE
        if not self.acts or not self.judges():
            return 0
        self._facts, self._is_new = {}, self._judged is None or minute > self._judged
        await self._visits.each(self.store.cells, lambda cell: self._read(cell, minute))
        if not self._facts or not self._is_new:
            return 0
        before = {(state.tenant_id, state.name): state for state in latest(one.states for one in self._facts.values())}
        after = self._judge(before, minute)
        self._states = list(after.values())
        await self._visits.each(self.store.cells, self._write)
        self._judged = minute
        changed = [state for key, state in after.items() if state.level != _level(before.get(key))]
        for state in changed:
            await self._report(_level(before.get((state.tenant_id, state.name))), state)
        await self._explain(minute)  # last: it asks all cells, just when they may be slow, and is not asked for again
        return len(changed)

    async def _read(self, cell: CellProtocol, minute: datetime) -> None:
        async with cell.statement() as tx:
            states = await measures.read(tx)
            if self._is_new:
                counted = await signals.judged(tx, minute, minute - RATE_SPAN)
                self._facts[cell.name] = JudgedFacts(counted, states, await measures.lines(tx))

    async def _write(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            if self._states:
                await measures.write(tx, self._states)
            await measures.forget(tx, tx.now - JUDGEMENT_LIFETIME)

    def _judge(self, before: Mapping[Key, MeasureState], minute: datetime) -> dict[Key, MeasureState]:
        """The state of every measure that is needed, or was before this minute."""
        lines = {tenant: own for one in self._facts.values() for tenant, own in one.lines.items()}
        counted = _sums(one.signals for one in self._facts.values())
        after: dict[Key, MeasureState] = {}
        for name in JUDGED:
            if name == MeasureName.PEAK_LOAD:
                readings = {PLATFORM_SCOPE: self._load()}
            else:
                readings = judge_scopes(name, counted, self.lines, lambda tenant: lines.get(tenant, self.lines))
            concerned = {key[0] for key in before if key[1] is name}
            concerned |= {scope for scope, one in readings.items() if one.reading is LinePosition.OVER}
            for scope in concerned:
                state = before.get((scope, name)) or MeasureState(name=name, tenant_id=scope, judged_until=minute)
                reading, value = readings.get(scope, ScopeReading(LinePosition.CLEAR, None))
                after[scope, name] = advance(state, reading, value, minute)
        return after

    def _load(self) -> ScopeReading:
        """The load of the nodes. Every node writes the same load to each cell, so the cells are not added up."""
        known = [one.load for facts in self._facts.values() for one in facts.signals.values() if one.load is not None]
        load = max(known, default=None)
        return ScopeReading(compare(MeasureName.PEAK_LOAD, load, self.lines.peak_load), load)

    async def _explain(self, minute: datetime) -> None:
        """Log the likely causes of late fires, while they are beyond the line."""
        late = any(one.name == MeasureName.TRIGGER_DELAY_P95 and one.over_minutes for one in self._states)
        if late:
            for cause in await explain_delays(self.store.cells, minute, self.lines.trigger_delay_p95_ms):
                facts = {"kind": cause.kind, "subject": cause.subject, "shards": cause.shards}
                log.warning("delay.explained", **facts, **cause.figures)

    async def _report(self, level: int, after: MeasureState) -> None:
        """Log a change of a level, and record it as an event and in the audit log of the tenant concerned.

        What concerns the platform is recorded for the tenant `system`. A record that cannot be written is logged.
        """
        event = Event.MEASURE_OPENED if level == 0 else Event.MEASURE_CHANGED if after.level else Event.MEASURE_ENDED
        tenant = None if after.tenant_id == PLATFORM_SCOPE else after.tenant_id
        log.warning("measure.changed", measure=after.name, tenant=tenant, reached=after.level, value=after.value)
        actions = LEVELS[after.name][after.level - 1][1] if after.level else ()
        detail = {
            "measure": after.name,
            "scope": "platform" if tenant is None else "tenant",
            "level": after.level,
            "value": after.value,
            "actions": sorted(actions),
        }
        try:
            home = tenant or await self._system_tenant()
            if home is None:
                return
            shard = shard_in(home)

            async def work(tx: Tx) -> None:
                await records.append(tx, shard, home, event, actor="horae", resource=after.name, detail=detail)

            await self.store.cell(shard).run(work)
        except UNSERVED_OR_MOVING as error:
            log.warning("measure.not_recorded", measure=after.name, reason=str(error) or type(error).__name__)

    async def _system_tenant(self) -> UUID | None:
        found = await ask_first(self.store.cells, lambda tx: tenants.find_copy(tx, SYSTEM))
        return None if found is None else found.id


class MeasureReader:
    """A duty that sets the measures in force of each cell; `follow` gets them when they change."""

    def __init__(
        self,
        store: StoreProtocol,
        follow: Callable[[MeasuresInForce], None] = lambda _measures: None,
    ) -> None:
        self.store = store
        self.follow = follow
        self._visits = Visits("measurereader")
        self._states: dict[str, list[MeasureState]] = {}
        self._known: MeasuresInForce = NO_MEASURES

    async def once(self) -> int:
        """Read the measures, and tell what is in force now; returns 0. A cell that is down keeps its last ones."""
        await self._visits.each(self.store.cells, self._read)
        if not any(self._states.values()) and self._known is NO_MEASURES:
            return 0
        now = self.store.clock.now()
        found = in_force(latest(self._states.values()), now)
        changed = not found.same_actions(self._known)
        self._known = found
        for cell in self.store.cells:
            cell.measures.set(found, now.timestamp())
        if changed:
            self.follow(found)
        return 0

    async def _read(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            self._states[cell.name] = await measures.read(tx)


def _level(state: MeasureState | None) -> int:
    return 0 if state is None else state.level


def _sums(cells: Iterable[Mapping[UUID, JudgedSignal]]) -> dict[UUID, MeasureSignal]:
    found: dict[UUID, list[MeasureSignal]] = {NOBODY: []}
    for counted in cells:
        for tenant_id, one in counted.items():
            found.setdefault(tenant_id, []).append(one.signal)
    return {tenant_id: add_signals(parts) for tenant_id, parts in found.items()}
