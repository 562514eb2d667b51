"""Alert channels, alert rules and silences: what is sent about faults, where, and when not."""

from datetime import datetime
from typing import Final, Generic, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from horae.domain.alerts.alerts import MessageRow, MessageState
from horae.domain.alerts.channels import AlertChannel
from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.messages import AlertMessage, AlertStatus, message_id
from horae.domain.alerts.rules import AlertRule, check_scope
from horae.domain.alerts.silences import Silence
from horae.domain.errors import NotFound
from horae.domain.events.channels import Channel
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.limits.counts import CountedKind
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.events import channels
from horae.service.events.channels import ChannelKind
from horae.store.alerts import messages
from horae.store.tx import Tx

ALERT_CHANNEL: Final = ChannelKind(
    "alert_channel", CountedKind.ALERT_CHANNELS, Event.ALERT_CHANNEL_PUT, Event.ALERT_CHANNEL_REMOVED
)
ALERT_RULE: Final = ChannelKind("alert_rule", CountedKind.ALERT_RULES, Event.ALERT_RULE_PUT, Event.ALERT_RULE_REMOVED)
SILENCE: Final = ChannelKind("silence", CountedKind.SILENCES, Event.SILENCE_PUT, Event.SILENCE_REMOVED)
Meaning = TypeVar("Meaning")


class AlertDefinition(NamedTuple, Generic[Meaning]):
    """An alert channel, an alert rule or a silence, with its row."""

    channel: Channel
    meaning: Meaning


async def put_channel(ctx: Context, name: str, wanted: AlertChannel) -> AlertDefinition[AlertChannel]:
    """Create or change an alert channel."""
    body = msgspec.to_builtins(wanted)
    kept = await channels.put(ctx, ALERT_CHANNEL, name, body, way=body["kind"])
    await channels.copy_to_cells(ctx, kept)
    return AlertDefinition(kept, wanted)


async def put_rule(ctx: Context, name: str, wanted: AlertRule) -> AlertDefinition[AlertRule]:
    """Create or change an alert rule."""
    check_scope(ctx.tenant.name, wanted)
    kept = await channels.put(ctx, ALERT_RULE, name, msgspec.to_builtins(wanted), about=wanted.kind)
    await channels.copy_to_cells(ctx, kept)
    return AlertDefinition(kept, wanted)


async def put_silence(ctx: Context, name: str, wanted: Silence) -> AlertDefinition[Silence]:
    """Create or change a silence. It is in force in every cell that answers when this returns."""
    kept = await channels.put(ctx, SILENCE, name, msgspec.to_builtins(wanted), until=wanted.ends_at.isoformat())
    await channels.copy_to_cells(ctx, kept)
    return AlertDefinition(kept, wanted)


async def page_channels(ctx: Context, after: str | None, limit: int) -> list[AlertDefinition[AlertChannel]]:
    """Returns the tenant's alert channels by name."""
    return [_channel(one) for one in await channels.page(ctx, ALERT_CHANNEL, after, limit)]


async def page_rules(ctx: Context, after: str | None, limit: int) -> list[AlertDefinition[AlertRule]]:
    """Returns the tenant's own alert rules by name."""
    return [_rule(one) for one in await channels.page(ctx, ALERT_RULE, after, limit)]


async def page_silences(ctx: Context, after: str | None, limit: int) -> list[AlertDefinition[Silence]]:
    """Returns the tenant's silences by name."""
    return [_silence(one) for one in await channels.page(ctx, SILENCE, after, limit)]


async def show_channel(ctx: Context, name: str) -> AlertDefinition[AlertChannel]:
    """Returns an alert channel by name."""
    return _channel(await channels.find(ctx, ALERT_CHANNEL, name))


async def show_rule(ctx: Context, name: str) -> AlertDefinition[AlertRule]:
    """Returns an alert rule by name."""
    return _rule(await channels.find(ctx, ALERT_RULE, name))


async def show_silence(ctx: Context, name: str) -> AlertDefinition[Silence]:
    """Returns a silence by name."""
    return _silence(await channels.find(ctx, SILENCE, name))


async def remove_channel(ctx: Context, name: str) -> AlertDefinition[AlertChannel]:
    """Remove an alert channel. Messages that wait for it fail."""
    found = await show_channel(ctx, name)
    await channels.remove(ctx, ALERT_CHANNEL, name)
    return found


async def remove_rule(ctx: Context, name: str) -> AlertDefinition[AlertRule]:
    """Remove an alert rule. Its open alerts are resolved when they are not seen any more."""
    found = await show_rule(ctx, name)
    await channels.remove(ctx, ALERT_RULE, name)
    return found


async def remove_silence(ctx: Context, name: str) -> AlertDefinition[Silence]:
    """Remove a silence: alerts that are still open are sent now."""
    found = await show_silence(ctx, name)
    await channels.remove(ctx, SILENCE, name)
    return found


class ChannelTest(NamedTuple):
    """A test of a channel, and what became of its message."""

    id: UUID
    message: MessageRow


async def test_channel(ctx: Context, name: str) -> ChannelTest:
    """Send a test to a channel, on the same way as an alert: a node sends it within seconds."""
    await channels.find(ctx, ALERT_CHANNEL, name)
    shard = shard_in(ctx.tenant.id)

    async def work(tx: Tx) -> UUID:
        id_ = new_id(shard, tx.now)
        body = msgspec.to_builtins(_test_message(ctx.tenant.name, id_, tx.now, ctx.actor))
        row = {
            "alert_id": str(id_),
            "sequence": 1,
            "channel": name,
            "tenant_id": str(ctx.tenant.id),
            "state": MessageState.PENDING,
            "body": body,
            "created_at": tx.now.isoformat(),
            "next_try_at": tx.now.isoformat(),
        }
        await messages.write(tx, [row])
        return id_

    return await show_test(ctx, await ctx.store.run(shard, work))


async def show_test(ctx: Context, id_: UUID) -> ChannelTest:
    """Returns a test with the state of its message."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await messages.of_alert(tx, ctx.tenant.id, id_)
    if not found:
        raise NotFound(f"there is no test {public(Prefix.ALERT, id_)}")
    return ChannelTest(id_, found[0])


def _test_message(tenant: str, id_: UUID, now: datetime, actor: str) -> AlertMessage:
    key = public(Prefix.ALERT, id_)
    return AlertMessage(
        id=message_id(key, now, AlertStatus.TEST),
        group_key=key,
        status=AlertStatus.TEST,
        kind=AlertKind.DEAD_LETTER,
        severity=AlertSeverity.INFO,
        tenant=tenant,
        opened_at=now,
        reason=f"a test of this channel, asked for by {actor}",
    )


def _channel(row: Channel) -> AlertDefinition[AlertChannel]:
    return AlertDefinition(row, msgspec.convert(row.body, AlertChannel))


def _rule(row: Channel) -> AlertDefinition[AlertRule]:
    return AlertDefinition(row, msgspec.convert(row.body, AlertRule))


def _silence(row: Channel) -> AlertDefinition[Silence]:
    return AlertDefinition(row, msgspec.convert(row.body, Silence))
