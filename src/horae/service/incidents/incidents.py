"""Starts recovery from an incident, stops it, and shows how far it is. The nodes do the work."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, NotFound, Unavailable
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.incidents.incidents import (
    STEPS,
    Incident,
    IncidentEntry,
    IncidentGrade,
    RecoverySummary,
    check_fault_time,
    summarize,
)
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.service.context import CallerContext
from horae.service.tenants import tenants
from horae.service.tenants.changes import record_event
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.incidents import entries, incidents
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

MAX_LISTED: Final = 100
"""Incidents that a list shows."""


class IncidentDetail(NamedTuple):
    """An incident with its timeline, over all cells that answer."""

    incident: Incident
    timeline: Sequence[IncidentEntry]
    summary: RecoverySummary


async def listing(ctx: CallerContext) -> list[Incident]:
    """Returns the incidents of all cells that answer, the newest first."""
    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, _newest))
    if not found:
        raise Unavailable("no cell answers now; ask again later")
    ctx.cells_down.update(down)
    return sorted(chain.from_iterable(found.values()), key=lambda one: one.started_at, reverse=True)[:MAX_LISTED]


async def start(ctx: CallerContext, grade: IncidentGrade, reason: str, fault_at: datetime | None = None) -> Incident:
    """Start recovery. The incident is kept in the first cell with shards that answers. Raises Conflict if one is open.

    `fault_at`: when the trouble began; by default now.
    """
    found, _ = await ask_each(ctx.store.cells, partial(ask_by_statement, incidents.unfinished))
    home = next((cell for cell in found if ctx.store.shards_of(cell)), None)
    if home is None:
        raise Unavailable("no cell with shards answers now; nothing was started")
    for one in chain.from_iterable(found.values()):
        raise _is_open(one)
    system, shard = await tenants.find_platform(ctx), _shard_of(ctx, home)
    now = home.clock.now()
    fault_at = fault_at or now
    check_fault_time(fault_at, now)

    async def work(tx: Tx) -> Incident:
        started = await incidents.start(tx, new_id(shard, tx.now), grade, reason, ctx.actor, fault_at)
        if started is None:
            raise Conflict("an incident is open, or a shard of this cell is moving; ask again")
        await _record(ctx, tx, shard, system, Event.INCIDENT_STARTED, started)
        return started

    return await home.run(work)


async def show(ctx: CallerContext, id_: UUID) -> IncidentDetail:
    """Returns an incident with its timeline."""
    _, incident = await _find(ctx, id_)
    return await detail(ctx, incident)


async def detail(ctx: CallerContext, incident: Incident) -> IncidentDetail:
    """Returns the timeline of an incident, over all cells that answer."""

    async def look(cell: CellProtocol) -> list[IncidentEntry]:
        async with cell.statement() as tx:
            return await entries.listing(tx, incident.id, cell.name)

    found, down = await ask_each(ctx.store.cells, look)
    ctx.cells_down.update(down)
    timeline = sorted(chain.from_iterable(found.values()), key=lambda entry: (entry.at, STEPS.index(entry.step)))
    return IncidentDetail(incident, timeline, summarize(incident, timeline))


async def stop(ctx: CallerContext, id_: UUID, reason: str) -> Incident:
    """Ask for the end of an incident: what recovery set is lifted, and nothing else is done."""
    home, found = await _find(ctx, id_)
    system, shard = await tenants.find_platform(ctx), _shard_of(ctx, home)

    async def work(tx: Tx) -> Incident:
        asked = await incidents.request_stop(tx, shard, id_)
        if asked is None:
            raise Conflict(f"{public(Prefix.INCIDENT, found.id)} has ended, or a shard of its cell is moving")
        await _record(ctx, tx, shard, system, Event.INCIDENT_STOPPED, asked._replace(reason=reason))
        return asked

    return await home.run(work)


async def _newest(tx: Tx) -> list[Incident]:
    return await incidents.listing(tx, MAX_LISTED)


async def _find(ctx: CallerContext, id_: UUID) -> tuple[CellProtocol, Incident]:
    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, partial(incidents.find, id_=id_)))
    for cell, incident in found.items():
        if incident is not None:
            return cell, incident
    if down:
        raise Unavailable(f"{', '.join(down)} cannot be reached, and may have the incident; ask again")
    raise NotFound(f"there is no incident {public(Prefix.INCIDENT, id_)}")


def _shard_of(ctx: CallerContext, cell: CellProtocol) -> int:
    """A shard of the cell, under which it keeps the records: so they need no other cell."""
    return min(shard for shard in ctx.store.shards_of(cell))


async def _record(ctx: CallerContext, tx: Tx, shard: int, system: Tenant, event: Event, one: Incident) -> None:
    """Write the event and the audit row, after a statement that carries the fence of the shard."""
    name = public(Prefix.INCIDENT, one.id)
    facts: dict[str, object] = {"incident": name, "grade": one.grade, "reason": one.reason, "step": one.step}
    facts["fault_at"] = one.fault_at.isoformat()
    await record_event(tx, shard, system, event, ctx.actor, name, facts)


def _is_open(one: Incident) -> Conflict:
    return Conflict(f"{public(Prefix.INCIDENT, one.id)} ({one.grade}) is open since {one.started_at:%H:%M:%S} UTC")
