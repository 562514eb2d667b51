"""The timeline of incidents. An entry is written by the transaction that does the thing, so each is done once."""

from collections.abc import Mapping
from uuid import UUID

from horae.domain.incidents.incidents import IncidentEntry, RecoveryStep
from horae.store.statements import sql
from horae.store.tx import Tx


async def append(tx: Tx, incident_id: UUID, step: RecoveryStep, part: str, facts: Mapping[str, object]) -> bool:
    """Record a part of a step, or with an empty `part` its end. False: that was done before."""
    args = (incident_id, step, part, tx.now, dict(facts))
    return await tx.value(sql("incidents/entries/append"), *args) is not None


async def listing(tx: Tx, incident_id: UUID, cell: str) -> list[IncidentEntry]:
    """What was done in this cell, whose name is `cell`, in the order of time."""
    rows = await tx.rows(sql("incidents/entries/listing"), incident_id)
    return [IncidentEntry(row["at"], cell, RecoveryStep(row["step"]), row["part"], row["facts"]) for row in rows]
