"""Holds: what living nodes hold back. Nodes write changes every few seconds."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg

from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import PRECEDENCE, GateKind, GateName, HeldLane, Hold
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_READ: Final = 5000
"""The most rows of one tenant that are read: fifty nodes, each with its maximum number of holds."""
HOLDS_KEPT_AFTER_DEATH: Final = timedelta(seconds=30)
HoldPlace = tuple[UUID, GateName, HeldLane]
"""The place of a hold: tenant, gate and lane."""


async def write(tx: Tx, incarnation: UUID, ended: Sequence[HoldPlace], changed: Sequence[Hold]) -> None:
    """Write the holds of a node that are new or changed, and delete those that have ended, in one statement."""
    await tx.run(
        sql("limits/holds/write"),
        incarnation,
        [tenant_id for tenant_id, _, _ in ended],
        [gate.digest for _, gate, _ in ended],
        [lane for _, _, lane in ended],
        [hold.tenant_id for hold in changed],
        [hold.gate.digest for hold in changed],
        [hold.lane for hold in changed],
        [hold.gate.kind for hold in changed],
        [hold.gate.display_name for hold in changed],
        [hold.reason for hold in changed],
        [hold.since for hold in changed],
        [hold.waiting for hold in changed],
        [hold.next_try_at for hold in changed],
        tx.now,
    )


async def of_tenant(tx: Tx, tenant_id: UUID, gates: Collection[GateName] | None = None) -> list[Hold]:
    """What living nodes hold back of a tenant in this cell: at these gates, or at all gates."""
    digests = None if gates is None else [gate.digest for gate in gates]
    return _known(await tx.rows(sql("limits/holds/of_tenant"), tenant_id, tx.now, digests, MAX_READ))


async def at_targets(tx: Tx, tenant_id: UUID | None) -> list[Hold]:
    """What living nodes hold back at targets in this cell, of one tenant or of all, most waiting first."""
    return _known(await tx.rows(sql("limits/holds/at_targets"), tenant_id, tx.now, MAX_READ))


async def forget(tx: Tx, limit: int) -> int:
    """Delete rows of nodes that have been dead for a while, at most `limit`; returns how many."""
    return len(await tx.rows(sql("limits/holds/forget"), tx.now - HOLDS_KEPT_AFTER_DEATH, limit))


def _known(rows: Sequence[asyncpg.Record]) -> list[Hold]:
    """Convert rows to holds. A reason that only a newer release knows is left out."""
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
