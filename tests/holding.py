"""A node that lives and says that it holds something back."""

from datetime import timedelta
from uuid import UUID

from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold
from horae.runtime.randomness import new_token
from horae.store.cells import Cell
from horae.store.limits import holds
from horae.store.nodes import leases

MINUTE = timedelta(minutes=1)


async def write_hold(
    cell: Cell, tenant_id: UUID, url: str = "http://x/", *, waiting: int = 1, ttl: timedelta = 10 * MINUTE
) -> Hold:
    """The breaker of a target is open, says a new node that lives for so long: the more wait, the longer it is open."""
    who = new_token()
    async with cell.tx() as tx:
        await leases.heartbeat(tx, who, "n", ttl)
        hold = Hold(
            tenant_id=tenant_id,
            gate=GateName(GateKind.TARGET, url),
            lane=HeldLane.FIRST,
            reason=HoldReason.BREAKER,
            since=tx.now - waiting * MINUTE,
            waiting=waiting,
            next_try_at=tx.now + timedelta(seconds=10 * waiting),
        )
        await holds.write(tx, who, [], [hold])
    return hold
