"""Many jobs with a day of fires, written as rows: no node has to live through a day of a million fires."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.ids import Prefix, public
from horae.domain.instances.idempotency_keys import recurring_key
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import Override, expected
from horae.domain.schedules.triggers import cron
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.store.cells import Cell
from horae.store.databases import partitions
from horae.store.store import Store

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
SECOND: Final = timedelta(seconds=1)
ZONES: Final = ("UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
FIRST_MINUTE: Final = 26
MINUTES: Final = 14
"""Jobs fire in 14 minutes of the hour, the first of them 26 minutes from now, or 20 minutes after these. No node fires
them, so a cursor that became due during a test would stand still."""
Row = dict[str, Any]
"""The columns of a row that are written."""


class FleetJob(NamedTuple):
    """A job of the fleet, and the times at which it fired in the day."""

    shard: int
    id: UUID
    name: str
    versions: list[tuple[datetime, Definition]]
    fires: list[datetime]
    paused: tuple[datetime, datetime] | None
    backfilled: datetime | None

    @property
    def moved(self) -> bool:
        """Whether one of its fires was moved."""
        return any(made.overrides for _, made in self.versions)


class Fleet:
    """Jobs of one tenant over all cells, with rows as a node would have left them.

    `by_name`: each job is in the shard of its name, where the API finds it; otherwise they are spread over all shards.
    """

    def __init__(self, ctx: Context, store: Store, number: int, seed: int = 1, *, by_name: bool = False) -> None:
        self.ctx, self.store, self.by_name = ctx, store, by_name
        self.dice = random.Random(seed)
        self.began = now = store.cells[0].clock.now()
        self.until = now.replace(minute=0, second=0, microsecond=0) - HOUR
        self.since = self.until - DAY
        self.jobs = [self._job(n) for n in range(number)]

    @property
    def fires(self) -> int:
        """How many fires of the day have a verdict."""
        return sum(len(job.fires) for job in self.jobs)

    async def write(self) -> None:
        """Write everything with COPY, cell by cell."""
        for cell in self.store.cells:
            async with cell.tx() as tx:
                await partitions.ensure(tx, (self.since - DAY).date(), 4)
            here = set(self.store.shards_of(cell))
            for first in range(0, len(self.jobs), 1_000):  # a busy machine copies more too slowly
                part = [job for job in self.jobs[first : first + 1_000] if job.shard in here]
                await self._write(cell, part)

    def _job(self, n: int) -> FleetJob:
        """A job by its number: of ten one was changed, one paused, one moved and one backfilled."""
        shard = self.ctx.tenant.shard(f"job-{n}") if self.by_name else self.dice.randrange(4096)
        born = self.since - 2 * HOUR
        zone, minute = self.dice.choice(ZONES), self.began.minute + FIRST_MINUTE + self.dice.randrange(MINUTES)
        minute = (minute + (30 if zone == "Asia/Kolkata" else 0)) % 60
        made = Definition(trigger=cron(f"{minute} * * * *", zone_name=zone), target=HttpTarget("http://127.0.0.1:9/"))
        versions, paused, backfilled = [(born, made)], None, None
        fires = list(expected.between(made.trigger, self.since, self.until))
        match n % 10:
            case 1:
                other = msgspec.structs.replace(made, trigger=cron(f"{(minute + 20) % 60} * * * *", zone_name=zone))
                changed = self.since + 12 * HOUR + 1 * SECOND
                versions.append((changed, other))
                fires = [at for at in fires if at <= changed]
                fires += expected.between(other.trigger, changed + expected.TIME_RESOLUTION, self.until)
            case 2:
                paused = (fires[8] - SECOND, fires[12] + SECOND)
            case 3:
                moved = Override(fires[10], fires[10] + timedelta(minutes=7))
                versions.append((fires[5] + SECOND, msgspec.structs.replace(made, overrides=(moved,))))
            case 4:
                backfilled = fires[6]
        return FleetJob(shard, new_id(shard, born), f"job-{n}", versions, fires, paused, backfilled)

    async def _write(self, cell: Cell, jobs: Sequence[FleetJob]) -> None:
        tables = {
            "job": [self._job_row(job) for job in jobs],
            "job_version": [row for job in jobs for row in self._version_rows(job)],
            "job_cursor": [self._cursor_row(job) for job in jobs],
            "instance_history": [row for job in jobs for row in self._rows(job)],
            "audit_log": [row for job in jobs for row in self._pause_rows(job)],
            "backfill": [row for job in jobs for row in self._backfill_rows(job)],
        }
        async with cell.pool.acquire() as connection:
            for table, rows in tables.items():
                if rows:
                    records = [tuple(row.values()) for row in rows]
                    await connection.copy_records_to_table(table, columns=list(rows[0]), records=records)

    def _job_row(self, job: FleetJob) -> Row:
        changed_at, made = job.versions[-1]
        common = {"shard_id": job.shard, "id": job.id, "tenant_id": self.ctx.tenant.id, "name": job.name}
        times = {"created_at": job.versions[0][0], "changed_at": changed_at}
        return common | times | {"status": "ACTIVE", "version": len(job.versions), "definition": made}

    def _version_rows(self, job: FleetJob) -> list[Row]:
        return [
            {**self._owner(job), "name": job.name, "version": number, "definition": made, "created_at": at}
            | {"created_by": "test"}
            for number, (at, made) in enumerate(job.versions, 1)
        ]

    def _cursor_row(self, job: FleetJob) -> Row:
        coming = expected.after(job.versions[-1][1].trigger, self.store.cells[0].clock.now())
        return {**self._owner(job), "version": len(job.versions), "priority": 1, "next_fire_at": coming}

    def _pause_rows(self, job: FleetJob) -> list[Row]:
        if job.paused is None:
            return []
        detail = {"name": job.name, "held_from": next(at for at in job.fires if at >= job.paused[0])}
        return [
            {"at": at, "shard_id": job.shard, "id": new_id(job.shard, at), "tenant_id": self.ctx.tenant.id}
            | {"actor": "test", "action": action, "resource": public(Prefix.JOB, job.id), "detail": detail}
            for at, action in zip(job.paused, ("job.paused", "job.resumed"), strict=True)
        ]

    def _backfill_rows(self, job: FleetJob) -> list[Row]:
        if job.backfilled is None:
            return []
        begin, end = job.backfilled, job.backfilled + SECOND
        times = {"created_at": self.until, "range_from": begin, "range_to": end, "cursor": end, "ended_at": self.until}
        facts = {"cap": 9, "planned": 1, "rerun": False, "status": "DONE", "created_by": "test"}
        return [{**self._owner(job), "id": new_id(job.shard, self.until), **times, **facts}]

    def _owner(self, job: FleetJob) -> Row:
        return {"shard_id": job.shard, "job_id": job.id, "tenant_id": self.ctx.tenant.id}

    def _rows(self, job: FleetJob) -> list[Row]:
        """A row for each fire of the day, and up to now: what is not judged must not look like a fault either."""
        held = [at for at in job.fires if job.paused and job.paused[0] <= at <= job.paused[1]]
        rows = [self._run(job, at) for at in job.fires if at not in held and at != job.backfilled]
        if held and job.paused:
            rows.append(self._skip(job, held[0], held[-1], len(held), "PAUSED", job.paused[1]))
        if job.backfilled is not None:
            rows.append(self._skip(job, job.backfilled, job.backfilled, 1, "MISFIRE", job.backfilled + HOUR))
            rows.append(self._run(job, job.backfilled, lane=2))
        late = expected.between(job.versions[-1][1].trigger, self.until, self.store.cells[0].clock.now())
        return rows + [self._run(job, at) for at in late]

    def _run(self, job: FleetJob, at: datetime, *, lane: int = 0) -> Row:
        row = self._fire(job, at, lane)
        due = next((one.to for one in job.versions[row["job_version"] - 1][1].overrides if one.at == at), None) or at
        ran = {"attempt": 1, "duration_ms": 5, "trigger_delay_ms": 10, "state": "SUCCESS", "reason": None}
        return row | ran | {"due_at": due, "ended_at": due + SECOND, "range_to": None, "range_count": None}

    def _skip(self, job: FleetJob, at: datetime, last: datetime, many: int, reason: str, written_at: datetime) -> Row:
        skipped = {"attempt": 0, "duration_ms": None, "trigger_delay_ms": None, "state": "SKIPPED", "reason": reason}
        times = {"due_at": at, "ended_at": written_at, "range_to": last, "range_count": many}
        return self._fire(job, at, 0) | skipped | times

    def _fire(self, job: FleetJob, at: datetime, lane: int) -> Row:
        version = sum(since < at for since, _ in job.versions)
        facts = {"job_version": version, "retry_count": 0, "priority": 1, "lane": lane, "fire_time": at}
        return {**self._owner(job), **facts, "id": new_id(job.shard, at), "idem_key": recurring_key(job.id, at)}
