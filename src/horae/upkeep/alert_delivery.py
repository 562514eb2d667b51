"""Sends the messages about alerts: in order per alert and channel, at least once, under a constant id.

1. The node that holds the first shard of a cell sends the messages of that cell.
2. Each channel has a task of its own, so a channel that is slow or down delays no other. A tenant has few tasks at a
   time, so that its broken channels take no place from other tenants.
3. A channel that cannot be reached lets all its messages wait: 1, 2, 4 … 60 s. Nothing is lost: the rows stay.
   So do they where this release cannot read the egress rules of the tenant.
4. A message that the channel refuses is tried again by itself. After a day it has failed: a person has to change the
   channel, and the row says why.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final, Protocol
from uuid import UUID

import msgspec

from horae.domain.alerts.alerts import MESSAGES_PER_MINUTE, backoff_s
from horae.domain.alerts.channels import AlertChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.errors import ChannelRefused, HoraeError, Unavailable
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.telemetry import log
from horae.store.alerts import messages
from horae.store.alerts.messages import DueMessage
from horae.store.connections.each_cell import UNSERVED, Visits
from horae.store.events import channels
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants
from horae.store.tx import Tx
from horae.upkeep.alert_rules import ALERT_CHANNEL

PER_CHANNEL: Final = 20
"""Messages of one channel that one round sends."""
TASKS_OF_TENANT: Final = 4
"""Channels of one tenant that are sent to at the same time."""
ROUND_S: Final = 1.0
"""Seconds that a round waits for its channels. Slower ones go on beside the next round."""
REFUSED_KEPT: Final = timedelta(days=1)
UNKNOWN_KEPT: Final = timedelta(minutes=5)
"""How long a message waits for a channel that this cell does not know: its copy may be on the way."""
LONGEST_ERROR: Final = 500
"""Characters."""
ChannelPlace = tuple[str, UUID, str]
"""A channel in a cell: cell, tenant, channel name."""


class SendsAlerts(Protocol):
    """What sends one message to one channel: `AlertSender`."""

    async def send(self, tenant_id: UUID, egress: Egress | None, channel: AlertChannel, message: AlertMessage) -> None:
        """Send a message; raises `Unavailable` or `ChannelRefused`."""


class AlertDeliverer:
    """A duty, every second. `mine` says whether this node sends the messages of a cell."""

    def __init__(self, store: StoreProtocol, mine: Callable[[CellProtocol], bool], sender: SendsAlerts) -> None:
        self.store, self._mine, self._sender = store, mine, sender
        self._visits = Visits("alertdeliverer")
        self._going: dict[ChannelPlace, asyncio.Task[int]] = {}
        self._room: dict[UUID, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(TASKS_OF_TENANT))

    async def once(self) -> int:
        """Start to send what is due. Returns how many messages arrived in this round."""
        await self._visits.each([cell for cell in self.store.cells if self._mine(cell)], self._visit)
        if self._going:
            await asyncio.wait(self._going.values(), timeout=ROUND_S)
        return self._collect()

    async def finish(self) -> int:
        """Wait until every channel has answered; returns how many messages arrived."""
        if self._going:
            await asyncio.wait(self._going.values())
        return self._collect()

    async def close(self) -> None:
        """Stop sending. What is not acknowledged is sent again by the next node."""
        await cancel_and_wait(*self._going.values())

    def _collect(self) -> int:
        over = {place: task for place, task in self._going.items() if task.done()}
        for place, task in over.items():
            del self._going[place]
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("alert.delivery_failed", cell=place[0], channel=place[2], exc_info=error)
        return sum(task.result() for task in over.values() if not task.cancelled() and task.exception() is None)

    async def _visit(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            due = await messages.due(tx, PER_CHANNEL)
            if not due:
                return
            known = {(one.tenant_id, one.name): one.body for one in await channels.active(tx, ALERT_CHANNEL)}
            allowances = await tenants.allowances(tx, sorted({one.tenant_id for one in due}))
        for (tenant_id, name), batch in groupby(due, lambda one: (one.tenant_id, one.channel)):
            place = (cell.name, tenant_id, name)
            if place in self._going:
                continue
            body, allowance = known.get((tenant_id, name)), allowances.get(tenant_id)
            self._going[place] = asyncio.create_task(self._send_all(cell, body, allowance, list(batch)))

    async def _send_all(
        self, cell: CellProtocol, body: object, allowance: Allowance | None, batch: Sequence[DueMessage]
    ) -> int:
        """Send the messages of one channel in order, as many as its rate allows; returns how many arrived.

        None are sent without the allowance of the tenant: its egress rules may forbid what the deployment allows.
        """
        allowed = max(0, MESSAGES_PER_MINUTE - batch[0].sent_lately)
        sent = 0
        async with self._room[batch[0].tenant_id]:
            try:
                if allowance is None:
                    await self._hold_back(
                        cell, batch[0], Unavailable("the egress rules of the tenant are not known here")
                    )
                    return 0
                for one in batch[:allowed]:
                    arrived = await self._send(cell, body, allowance.egress, one)
                    if arrived is None:
                        break
                    sent += arrived
            except UNSERVED:
                pass  # the cell is lost: what was sent and not recorded is sent again
        return sent

    async def _send(self, cell: CellProtocol, body: object, egress: Egress | None, one: DueMessage) -> bool | None:
        """Send one message and record what became of it; None: the channel cannot be reached."""
        age = cell.clock.now() - one.created_at
        if body is None:
            if age > UNKNOWN_KEPT:
                await _record(cell, lambda tx: messages.mark_failed(tx, one, "there is no alert channel of this name"))
            return False
        try:
            channel, message = msgspec.convert(body, AlertChannel), msgspec.convert(one.body, AlertMessage)
            await self._sender.send(one.tenant_id, egress, channel, message)
        except Unavailable as error:
            await self._hold_back(cell, one, error)
            return None
        except (ChannelRefused, msgspec.ValidationError) as error:
            await self._refuse(cell, one, str(error)[:LONGEST_ERROR], failed=age > REFUSED_KEPT)
            return False
        await _record(cell, lambda tx: messages.mark_sent(tx, one))
        if one.attempts:
            log.info("alert.channel_recovered", channel=one.channel, attempts=one.attempts + 1)
        return True

    async def _hold_back(self, cell: CellProtocol, one: DueMessage, error: HoraeError) -> None:
        named = error.facts.get("retry_after")
        pause = timedelta(
            seconds=max(backoff_s(one.attempts + 1), float(named) if isinstance(named, int | float) else 0)
        )
        reason = str(error)[:LONGEST_ERROR]
        if not one.attempts:
            log.warning("alert.channel_waiting", channel=one.channel, reason=reason)

        async def work(tx: Tx) -> None:
            await messages.postpone(tx, one, pause, reason)
            await messages.hold_back(tx, one, pause)

        await _record(cell, work)

    async def _refuse(self, cell: CellProtocol, one: DueMessage, reason: str, *, failed: bool) -> None:
        if not one.attempts:
            log.warning("alert.channel_refused", channel=one.channel, reason=reason)
        if failed:
            await _record(cell, lambda tx: messages.mark_failed(tx, one, reason))
        else:
            pause = timedelta(seconds=backoff_s(one.attempts + 1))
            await _record(cell, lambda tx: messages.postpone(tx, one, pause, reason))


async def _record(cell: CellProtocol, work: Callable[[Tx], Awaitable[object]]) -> None:
    async with cell.statement() as tx:
        await work(tx)
