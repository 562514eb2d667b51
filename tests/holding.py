"""A node that lives and says that it holds something back."""

from datetime import timedelta
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.holds import GateKind, GateName, HeldLane, Hold
from horae.runtime.chance import token
from horae.store import holds, leases
from horae.store.cells import Cell

MINUTE = timedelta(minutes=1)


async def write_hold(
    cell: Cell, tenant_id: UUID, url: str = "http://x/", *, waiting: int = 1, ttl: timedelta = 10 * MINUTE
) -> Hold:
    """The breaker of a target is open, says a new node that lives for so long: the more wait, the longer it is open."""
    who = token()
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
