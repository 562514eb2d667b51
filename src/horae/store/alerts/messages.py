"""Messages about alerts: what is to be sent to which channel, and what became of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.alerts.alerts import MessageRow
from horae.store.statements import sql
from horae.store.tx import Tx

RATE_WINDOW: Final = timedelta(minutes=1)


class DueMessage(NamedTuple):
    """A message to send now. `sent_lately` is how many its channel was sent within `RATE_WINDOW`."""

    alert_id: UUID
    sequence: int
    tenant_id: UUID
    channel: str
    attempts: int
    created_at: datetime
    body: dict[str, Any]
    sent_lately: int


async def write(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Write new messages."""
    if rows:
        await tx.run(sql("alerts/messages/write"), rows)


async def due(tx: Tx, per_channel: int) -> list[DueMessage]:
    """The messages to send now, in the order of each channel, at most `per_channel` of each."""
    return [
        DueMessage(*row) for row in await tx.rows(sql("alerts/messages/due"), tx.now, tx.now - RATE_WINDOW, per_channel)
    ]


async def mark_sent(tx: Tx, one: DueMessage) -> bool:
    """Record that a message arrived; False when another node did so first."""
    return await tx.value(sql("alerts/messages/mark_sent"), one.alert_id, one.sequence, one.channel, tx.now) is not None


async def postpone(tx: Tx, one: DueMessage, by: timedelta, error: str) -> None:
    """Try a message again later."""
    args = (one.alert_id, one.sequence, one.channel, tx.now + by, error)
    await tx.run(sql("alerts/messages/postpone"), *args)


async def hold_back(tx: Tx, one: DueMessage, by: timedelta) -> None:
    """Let every message to the channel of `one` wait: the channel cannot be reached."""
    await tx.run(sql("alerts/messages/hold_back"), one.tenant_id, one.channel, tx.now + by)


async def mark_failed(tx: Tx, one: DueMessage, error: str) -> None:
    """Give up a message."""
    await tx.run(sql("alerts/messages/mark_failed"), one.alert_id, one.sequence, one.channel, error)


async def of_alert(tx: Tx, tenant_id: UUID, alert_id: UUID) -> list[MessageRow]:
    """The messages of an alert, or the message of a test."""
    return [MessageRow(*row) for row in await tx.rows(sql("alerts/messages/of_alert"), tenant_id, alert_id)]


async def forget_tests(tx: Tx, before: datetime, limit: int) -> int:
    """Delete old tests, at most `limit`; returns how many."""
    return len(await tx.rows(sql("alerts/messages/forget_tests"), before, limit))
