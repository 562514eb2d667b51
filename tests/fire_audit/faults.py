"""Faults to plant: each changes the rows of one job as a bug or a hand in the database would."""

from typing import NamedTuple

from horae.domain.fire_audit.findings import FireFault

NEWEST = """(select id from instance_history where job_id = $1 and state = 'SUCCESS' and lane = 0
              order by fire_time desc offset 1 limit 1)"""
"""The last but one fire of a job that ran: the last one may be too young to be judged."""
COPY = """insert into instance_history
          select (jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid(), 'fire_time', {fire_time},
                                                              'due_at', {fire_time}, 'idem_key', {key},
                                                              'range_to', null, 'range_count', null, 'reason', null,
                                                              'state', 'SUCCESS'))).*
          from instance_history h where h.id = {id}"""
AFTER_PAUSE = "(select id from instance_history where job_id = $1 and reason = 'PAUSED' order by fire_time limit 1)"


class PlantedFault(NamedTuple):
    """Statements about the job `$1`, and what an audit finds then."""

    job: str
    statements: tuple[str, ...]
    found: tuple[FireFault, ...]


FAULTS = {
    "a row is deleted": PlantedFault(
        "plain", (f"delete from instance_history where id = {NEWEST}",), (FireFault.MISSING,)
    ),
    "a cursor stands still": PlantedFault(
        "interval",
        (
            "update job_cursor set next_fire_at = next_fire_at - interval '15000 s' where job_id = $1",
            """delete from instance_history h using job_cursor c
               where h.job_id = $1 and c.job_id = $1 and h.fire_time >= c.next_fire_at""",
        ),
        (FireFault.STANDS_STILL,),
    ),
    "a fire is doubled": PlantedFault(
        "berlin", (COPY.format(fire_time="h.fire_time", key="h.idem_key", id=NEWEST),), (FireFault.DOUBLED,)
    ),
    "a fire is in the wrong zone": PlantedFault(
        "gap",
        (f"update instance_history set fire_time = fire_time + interval '1 hour' where id = {NEWEST}",),
        (FireFault.MISSING, FireFault.NOT_A_FIRE),
    ),
    "a backfill lost a fire": PlantedFault(
        "none",
        (
            """delete from instance_history where id =
            (select id from instance_history where job_id = $1 and lane = 2 limit 1)""",
        ),
        (FireFault.LOST_BACKFILL,),
    ),
    "a row has the wrong version": PlantedFault(
        "changed", (f"update instance_history set job_version = 1 where id = {NEWEST}",), (FireFault.WRONG_VERSION,)
    ),
    "a pause is ignored": PlantedFault(
        "paused",
        (COPY.format(fire_time="h.fire_time", key="h.idem_key", id=AFTER_PAUSE),),
        (FireFault.RAN_WHILE_PAUSED,),
    ),
    "a fire is skipped for no reason": PlantedFault(
        "all",
        (f"update instance_history set state = 'SKIPPED', reason = 'OVERLAP' where id = {NEWEST}",),
        (FireFault.WRONG_SKIP,),
    ),
    "the move of a fire is lost": PlantedFault(
        "moved",
        ("update instance_history set due_at = fire_time where job_id = $1 and due_at > fire_time",),
        (FireFault.WRONG_DUE,),
    ),
}
