"""The record of an incident, in the cell where it was started. One coordinator at a time works on it, by a lease."""

from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.incidents.incidents import Incident, IncidentGrade, IncidentResult, RecoveryStep
from horae.store.statements import sql
from horae.store.tx import Tx


async def start(
    tx: Tx, id_: UUID, grade: IncidentGrade, reason: str, actor: str, fault_at: datetime
) -> Incident | None:
    """Record a new incident. None: one is open in this cell, or the shard of the id is moving."""
    args = (shard_in(id_), id_, grade, reason, actor, fault_at, tx.now)
    return _incident_or_none(await tx.row(sql("incidents/incidents/start"), *args))


async def unfinished(tx: Tx) -> list[Incident]:
    """The incidents of this cell that have not ended."""
    return [_incident(row) for row in await tx.rows(sql("incidents/incidents/unfinished"))]


async def find(tx: Tx, id_: UUID) -> Incident | None:
    """One incident of this cell."""
    return _incident_or_none(await tx.row(sql("incidents/incidents/find"), id_))


async def listing(tx: Tx, limit: int) -> list[Incident]:
    """The incidents of this cell, the newest first."""
    return [_incident(row) for row in await tx.rows(sql("incidents/incidents/listing"), limit)]


async def take(tx: Tx, id_: UUID, coordinator: UUID, ttl: timedelta) -> Incident | None:
    """Become or stay the coordinator for one TTL. None: another one is it, or the incident has ended."""
    return _incident_or_none(await tx.row(sql("incidents/incidents/take"), id_, coordinator, tx.now, ttl))


async def advance(
    tx: Tx, incident: Incident, coordinator: UUID, to_step: RecoveryStep, result: IncidentResult | None = None
) -> Incident | None:
    """Go on to another step. None: another coordinator has the incident, or it is at another step."""
    args = (incident.id, coordinator, incident.step, to_step, result, tx.now)
    return _incident_or_none(await tx.row(sql("incidents/incidents/advance"), *args))


async def record_error(tx: Tx, id_: UUID, coordinator: UUID, error: str | None) -> None:
    """Record what the present step waits for; None: nothing is in its way."""
    await tx.rows(sql("incidents/incidents/record_error"), id_, coordinator, error)


async def request_stop(tx: Tx, shard: int, id_: UUID) -> Incident | None:
    """Ask the coordinator to lift what was set and to end. None: it has ended, or the shard is moving."""
    return _incident_or_none(await tx.row(sql("incidents/incidents/request_stop"), shard, id_))


def _incident_or_none(row: asyncpg.Record | None) -> Incident | None:
    return None if row is None else _incident(row)


def _incident(row: asyncpg.Record) -> Incident:
    found = Incident(*row)
    return found._replace(
        grade=IncidentGrade(found.grade),
        step=RecoveryStep(found.step),
        result=None if found.result is None else IncidentResult(found.result),
    )
