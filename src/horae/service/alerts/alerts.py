"""The alerts of a tenant: what is wrong now, what was, and who takes care of it."""

from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.alerts.alerts import Alert, AlertFilter, MessageRow
from horae.domain.errors import Conflict, NotFound
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.service.context import Context
from horae.service.tenants.changes import record_event
from horae.store.alerts import alerts, messages
from horae.store.tx import Tx

NEWEST: Final = (datetime.max.replace(tzinfo=UTC), UUID(int=(1 << 128) - 1))
"""Where a list of alerts begins."""


class AlertDetail(NamedTuple):
    """An alert with its messages."""

    alert: Alert
    messages: list[MessageRow]


async def page(ctx: Context, wanted: AlertFilter, before: tuple[datetime, UUID] | None, limit: int) -> list[Alert]:
    """Returns the tenant's alerts, newest first. Cells that are down are left out and named."""
    look = partial(alerts.page, tenant_id=ctx.tenant.id, before=before or NEWEST, wanted=wanted, limit=limit)
    found = chain.from_iterable(await ctx.ask_each(look))
    return sorted(found, key=lambda one: (one.opened_at, one.id), reverse=True)[:limit]


async def show(ctx: Context, id_: UUID) -> AlertDetail:
    """Returns an alert with its messages."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await alerts.find(tx, ctx.tenant.id, id_)
        sent = await messages.of_alert(tx, ctx.tenant.id, id_)
    return AlertDetail(_require(id_, found), sent)


async def acknowledge(ctx: Context, id_: UUID) -> AlertDetail:
    """Take care of an open alert: it is not repeated any more. An acknowledged one stays as it is."""

    async def work(tx: Tx) -> None:
        changed = await alerts.acknowledge(tx, ctx.tenant.id, id_, ctx.actor)
        if changed is None:
            found = _require(id_, await alerts.find(tx, ctx.tenant.id, id_))
            if found.resolved_at is not None:
                raise Conflict("the alert is resolved already")
            return
        detail: dict[str, object] = {"kind": changed.kind, "job": changed.job}
        resource = f"alert/{public(Prefix.ALERT, id_)}"
        await record_event(tx, shard_in(id_), ctx.tenant, Event.ALERT_ACKNOWLEDGED, ctx.actor, resource, detail)

    await ctx.store.run(shard_in(id_), work)
    return await show(ctx, id_)


def _require(id_: UUID, found: Alert | None) -> Alert:
    if found is None:
        raise NotFound(f"there is no alert {public(Prefix.ALERT, id_)}")
    return found
