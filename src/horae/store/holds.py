"""Holds: what living nodes hold back, written by them every few seconds while there is something to say."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg

from horae.domain.admission import HoldReason
from horae.domain.holds import PRECEDENCE, GateKind, GateName, HeldLane, Hold
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_READ: Final = 5000
"""Rows of one tenant that are read: the holds of fifty nodes that each write as many as they may."""
KEPT_AFTER_DEATH: Final = timedelta(seconds=30)
HoldPlace = tuple[UUID, GateName, HeldLane]
"""Where a hold is written: whose, at which gate, and which calls."""


async def write(tx: Tx, incarnation: UUID, ended: Sequence[HoldPlace], changed: Sequence[Hold]) -> None:
    """Write what a node holds back now and did not a moment ago, and remove what has ended, in one statement."""
    await tx.run(
        sql("holds/write"),
        incarnation,
        [tenant_id for tenant_id, _, _ in ended],
        [gate.digest for _, gate, _ in ended],
        [lane for _, _, lane in ended],
        [hold.tenant_id for hold in changed],
        [hold.gate.digest for hold in changed],
        [hold.lane for hold in changed],
        [hold.gate.kind for hold in changed],
        [hold.gate.shown for hold in changed],
        [hold.reason for hold in changed],
        [hold.since for hold in changed],
        [hold.waiting for hold in changed],
        [hold.next_try_at for hold in changed],
        tx.now,
    )


async def of_tenant(tx: Tx, tenant_id: UUID, gates: Collection[GateName] | None = None) -> list[Hold]:
    """What living nodes hold back of a tenant in this cell: at these gates, or at all."""
    digests = None if gates is None else [gate.digest for gate in gates]
    return _known(await tx.rows(sql("holds/of_tenant"), tenant_id, tx.now, digests, MAX_READ))


async def forget(tx: Tx, limit: int) -> int:
    """Remove rows of nodes that have been dead for a while, at most so many; returns how many there were."""
    return len(await tx.rows(sql("holds/forget"), tx.now - KEPT_AFTER_DEATH, limit))


def _known(rows: Sequence[asyncpg.Record]) -> list[Hold]:
    """Rows as holds; what a node of a newer release says and this one has no word for is left out."""
    return [_hold(row) for row in rows if row["reason"] in PRECEDENCE]


def _hold(row: asyncpg.Record) -> Hold:
    return Hold(
        tenant_id=row["tenant_id"],
        gate=GateName(GateKind(row["kind"]), row["name"]),
        lane=HeldLane(row["lane"]),
        reason=HoldReason(row["reason"]),
        since=row["since"],
        waiting=row["waiting"],
        next_try_at=row["next_try_at"],
    )
