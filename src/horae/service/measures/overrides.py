"""Decisions of people about protective measures: in force, or not, until a time. Each is audited with its reason."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid, ShardClosed, Unavailable
from horae.domain.events.events import Event
from horae.domain.ids import shard_in
from horae.domain.measures.measures import (
    MAX_OVERRIDE,
    PLATFORM_SCOPE,
    MeasureName,
    MeasureOverride,
    MeasureState,
    latest,
)
from horae.service.context import CallerContext
from horae.service.tenants import tenants
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.measures import measures, records
from horae.store.row_level_security import PLATFORM, Behalf, RowSecurityCell, RowSecurityStore, restrict
from horae.store.tx import Tx


class MeasureScope(NamedTuple):
    """A measure of the whole platform, or of one tenant."""

    name: MeasureName
    tenant_id: UUID = PLATFORM_SCOPE


class ListedMeasure(NamedTuple):
    """A measure, and the name of the tenant it concerns; None: it is of the platform, or the name is not known now."""

    state: MeasureState
    tenant_name: str | None


class DecisionCopies(NamedTuple):
    """The names of the cells that know a decision, and of those that could not be reached."""

    cells: list[str]
    cells_down: list[str]


async def scope_of(ctx: CallerContext, name: MeasureName, tenant: str | None) -> MeasureScope:
    """Returns the measure of the tenant with this name or public id; without one, of the whole platform."""
    return MeasureScope(name, PLATFORM_SCOPE if tenant is None else (await tenants.find_by_ref(ctx, tenant)).id)


async def listing(ctx: CallerContext) -> list[ListedMeasure]:
    """Every measure that is in force, may come into force soon, or that a person has decided about."""
    cells = restrict(ctx.store, PLATFORM).cells
    found, down = await ask_each(cells, partial(ask_by_statement, measures.read))
    if not found:
        raise Unavailable("no cell answers now; ask again later")
    ctx.cells_down.update(down)
    states = latest(found.values())
    names = await tenants.names(ctx, {one.tenant_id for one in states} - {PLATFORM_SCOPE})
    return [ListedMeasure(one, names.get(one.tenant_id)) for one in states]


async def override(
    ctx: CallerContext, scope: MeasureScope, lasts: timedelta, reason: str, *, in_force: bool
) -> DecisionCopies:
    """Let a measure be in force, or not, for some time. Returns the cells that know it now."""
    if not timedelta(0) < lasts <= MAX_OVERRIDE:
        raise Invalid(f"a decision about a measure lasts up to {MAX_OVERRIDE.days} days")
    decided = MeasureOverride(in_force, ctx.store.clock.now() + lasts, ctx.actor, reason)
    return await _decide(ctx, scope, decided, {**msgspec.to_builtins(decided)})


async def lift(ctx: CallerContext, scope: MeasureScope, reason: str) -> DecisionCopies:
    """End the decision of a person: the signal decides again. Returns the cells that know it now."""
    return await _decide(ctx, scope, None, {"in_force": None, "reason": reason})


async def _decide(
    ctx: CallerContext, scope: MeasureScope, decided: MeasureOverride | None, detail: dict[str, object]
) -> DecisionCopies:
    """Write a decision to every cell that answers.

    1. The first cell gets it in one transaction with the event and the audit row: no decision is without its record.
    2. Then the other cells get it. A cell that is down gets it when the request is repeated. Until then its copy says
       what it said before.
    """
    is_platform = scope.tenant_id == PLATFORM_SCOPE
    owner = (await tenants.find_platform(ctx)).id if is_platform else scope.tenant_id
    store = restrict(ctx.store, Behalf(owner, platform=True))
    first, shard = await _place_of_record(store, owner, is_platform=is_platform)
    said = {"measure": scope.name, "scope": "platform" if is_platform else "tenant", **detail}
    write = partial(measures.override, name=scope.name, tenant_id=scope.tenant_id, decided=decided)

    async def write_and_record(tx: Tx) -> None:
        await write(tx)
        event = Event.MEASURE_OVERRIDDEN
        if not await records.append(tx, shard, owner, event, actor=ctx.actor, resource=scope.name, detail=said):
            raise ShardClosed("the shard of the record is moving; nothing was changed")

    await first.run(write_and_record)
    others = [cell for cell in store.cells if cell is not first]
    found, down = await ask_each(others, lambda cell: cell.run(write))
    ctx.cells_down.update(down)
    return DecisionCopies([cell.name for cell in store.cells if cell is first or cell in found], down)


async def _place_of_record(store: RowSecurityStore, owner: UUID, *, is_platform: bool) -> tuple[RowSecurityCell, int]:
    """Returns the cell and the shard of the record.

    A tenant finds it at home. A record of the platform may lie in any cell, so that a decision needs no certain cell.
    """
    answering = (await ask_each(store.cells, partial(ask_by_statement, measures.read))).found
    shard = shard_in(owner)
    home = store.cell(shard)
    if home in answering:
        return home, shard
    first = next((cell for cell in answering if store.shards_of(cell)), None)
    if is_platform and first is not None:
        return first, min(store.shards_of(first))
    raise Unavailable(f"{home.name}, which has the audit log of the scope, does not answer now; nothing was changed")
