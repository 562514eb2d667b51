"""The schedules of jobs, without what their calls send: a payload is a thousand times larger."""

from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.errors import HoraeError
from horae.domain.schedule import Schedule
from horae.domain.triggers import Kind
from horae.runtime.telemetry import log
from horae.store.statements import sql
from horae.store.tx import Tx


class NamedSchedule(NamedTuple):
    """The schedule of a job, without its calendars; None: this release cannot read it."""

    name: str
    schedule: Schedule | None


async def page(tx: Tx, tenant_id: UUID, kind: Kind, after: str, limit: int) -> list[NamedSchedule]:
    """The schedules of a tenant's living jobs of a kind, by name after another."""
    rows = await tx.rows(sql("schedules/page"), tenant_id, after, kind, limit)
    return [NamedSchedule(row["name"], _schedule(row)) for row in rows]


def _schedule(row: asyncpg.Record) -> Schedule | None:
    stored = {"key": str(row["id"]), **{part: row[part] for part in ("trigger", "policies", "overrides") if row[part]}}
    try:
        return msgspec.convert(stored, Schedule)
    except (msgspec.MsgspecError, HoraeError) as error:
        log.error("definition.unreadable", job=stored["key"], reason=str(error))
        return None
