"""Faults to plant in a fleet, and which findings each leaves."""

import asyncio
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.fire_audit.findings import FireFault
from tests.fire_audit.archived import ArchivedFleet
from tests.fire_audit.fleet import Fleet


class FleetFault(NamedTuple):
    """A kind of fault: which jobs can have it (by number modulo ten), what is done to the fire `$2` of job `$1`."""

    kinds: frozenset[int]
    statement: str
    found: frozenset[FireFault]


PLAIN: Final = frozenset({0, 5, 6, 7, 8, 9})
NEW_ID: Final = "left(h.id::text, 24) || right(md5(random()::text), 12)"
"""Another id with the time of the row's own."""
FAULTS: Final = {
    "deleted": FleetFault(
        PLAIN, "delete from instance_history where job_id = $1 and fire_time = $2", frozenset({FireFault.MISSING})
    ),
    "frozen": FleetFault(
        PLAIN,
        """with stands as (update job_cursor set next_fire_at = $2 where job_id = $1)
           delete from instance_history where job_id = $1 and fire_time >= $2""",
        frozenset({FireFault.STANDS_STILL}),
    ),
    "doubled": FleetFault(
        PLAIN,
        f"""insert into instance_history
           select (jsonb_populate_record(h, jsonb_build_object('id', {NEW_ID}))).*
           from instance_history h where h.job_id = $1 and h.fire_time = $2""",
        frozenset({FireFault.DOUBLED}),
    ),
    "wrong zone": FleetFault(
        PLAIN,
        "update instance_history set fire_time = fire_time + interval '30 min' where job_id = $1 and fire_time = $2",
        frozenset({FireFault.MISSING, FireFault.NOT_A_FIRE}),
    ),
    "lost backfill": FleetFault(
        frozenset({4}),
        "delete from instance_history where job_id = $1 and lane = 2 and $2::timestamptz is not null",
        frozenset({FireFault.LOST_BACKFILL}),
    ),
    "wrong version": FleetFault(
        frozenset({1}),
        "update instance_history set job_version = 3 - job_version where job_id = $1 and fire_time = $2",
        frozenset({FireFault.WRONG_VERSION}),
    ),
    "pause ignored": FleetFault(
        frozenset({2}),
        f"""insert into instance_history
           select (jsonb_populate_record(h, jsonb_build_object('id', {NEW_ID}, 'state', 'SUCCESS',
                   'reason', null, 'range_to', null, 'range_count', null, 'attempt', 1))).*
           from instance_history h where h.job_id = $1 and h.reason = 'PAUSED' and $2::timestamptz is not null""",
        frozenset({FireFault.RAN_WHILE_PAUSED}),
    ),
    "no reason": FleetFault(
        PLAIN,
        "update instance_history set state = 'SKIPPED', reason = 'OVERLAP' where job_id = $1 and fire_time = $2",
        frozenset({FireFault.WRONG_SKIP}),
    ),
    "lost move": FleetFault(
        frozenset({3}),
        """update instance_history set due_at = fire_time
           where job_id = $1 and due_at > fire_time and $2::timestamptz is not null""",
        frozenset({FireFault.WRONG_DUE}),
    ),
}


ALTERED: Final = frozenset({FireFault.ALTERED})
"""What is found of a job of which somebody changed an archived row."""


async def plant(fleet: Fleet, archived: ArchivedFleet, many: int) -> dict[UUID, frozenset[FireFault]]:
    """Plant so many faults, each in a job of its own. Returns what has to be found of each job.

    A tenth of them is in the archive. All others are in PostgreSQL before the archive is written, and so in both.
    """
    chosen = await _plant_rows(fleet, many - many // 10)
    await archived.write()
    rest = [job.id for n, job in enumerate(fleet.jobs) if n % 10 in PLAIN and job.id not in chosen]
    fleet.dice.shuffle(rest)
    altered = await asyncio.to_thread(archived.alter, set(rest[: many // 10]))  # seconds of computing
    return chosen | dict.fromkeys(altered, ALTERED)


async def _plant_rows(fleet: Fleet, many: int) -> dict[UUID, frozenset[FireFault]]:
    kinds = [*FAULTS.values()]
    chosen: dict[UUID, frozenset[FireFault]] = {}
    pools = {kind: [n for n in range(len(fleet.jobs)) if n % 10 in fault.kinds] for kind, fault in enumerate(kinds)}
    for pool in pools.values():
        fleet.dice.shuffle(pool)
    for number in range(many):
        kind = number % len(kinds)
        job = next(one for one in (fleet.jobs[pools[kind].pop()] for _ in range(10**6)) if one.id not in chosen)
        fire = fleet.dice.choice(job.fires[2:-3])
        async with fleet.store.cell(job.shard).pool.acquire() as connection:
            await connection.execute(kinds[kind].statement, job.id, fire)
        chosen[job.id] = kinds[kind].found
    return chosen
