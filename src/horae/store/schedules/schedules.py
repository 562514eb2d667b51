"""The schedules of jobs, without their payloads, which can be a thousand times larger."""

from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.errors import HoraeError
from horae.domain.schedules import Schedule
from horae.domain.schedules.triggers import TriggerKind
from horae.runtime.telemetry import log
from horae.store.statements import sql
from horae.store.tx import Tx


class NamedSchedule(NamedTuple):
    """The schedule of a job, without its calendars; None if this release cannot read it.

    `owner` is who is responsible for it, `source` the source of schedules that declares it.
    """

    name: str
    schedule: Schedule | None
    version: int
    owner: str | None
    source: str | None
    late_after: int | None


async def page(tx: Tx, tenant_id: UUID, kind: TriggerKind, after: str, limit: int) -> list[NamedSchedule]:
    """The schedules of a tenant's jobs of a kind, by name, after a name; removed jobs are left out."""
    rows = await tx.rows(sql("schedules/schedules/page"), tenant_id, after, kind, limit)
    return [
        NamedSchedule(row["name"], _schedule(row), row["version"], row["owner"], row["source"], row["late_after"])
        for row in rows
    ]


def _schedule(row: asyncpg.Record) -> Schedule | None:
    stored = {"key": str(row["id"]), **{part: row[part] for part in ("trigger", "policies", "overrides") if row[part]}}
    try:
        return msgspec.convert(stored, Schedule)
    except (msgspec.MsgspecError, HoraeError) as error:
        log.error("definition.unreadable", job=stored["key"], reason=str(error))
        return None
