"""Reads XXL-JOB rows (`xxl_job_info`): cron in the dialect of Quartz, fixed rates, misfire and block strategies."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.triggers import IntervalTrigger, ManualTrigger, Trigger
from horae.service.imports import quartz
from horae.service.imports.results import (
    DifferenceTopic,
    Found,
    ImportDifference,
    ImportedJob,
    description_in,
    owner_in,
    refused_entry,
)

MISFIRES = {"DO_NOTHING": OnMisfire.SKIP, "FIRE_ONCE_NOW": OnMisfire.ONCE}
BLOCKS = {
    "SERIAL_EXECUTION": OnOverlap.QUEUE_ONE,
    "DISCARD_LATER": OnOverlap.FORBID,
    "COVER_EARLY": OnOverlap.REPLACE,
}


def read(row: Mapping[str, Any], *, server_zone: str, anchor: datetime, salt: str = "") -> Found:
    """Reads one row. `server_zone` is the zone of the scheduler's machine; fixed rates begin at `anchor`."""
    name = str(row.get("job_desc") or f"xxl-job-{row.get('id', '')}")
    conf = str(row.get("schedule_conf") or row.get("job_cron") or "")
    kind = str(row.get("schedule_type") or "CRON").upper()
    try:
        policies = _policies(row)
        trigger, differences = _trigger(name, kind, conf, server_zone, anchor, salt)
    except (InvalidSchedule, ValueError) as error:
        return refused_entry(name, conf, error)
    if policies.overlap is OnOverlap.QUEUE_ONE:
        differences.append(
            ImportDifference(
                DifferenceTopic.OVERLAP, "XXL-JOB lets any number wait, per executor machine; ours lets one wait"
            )
        )
    stopped = str(row.get("trigger_status", 1)) == "0"
    if stopped:
        differences.append(ImportDifference(DifferenceTopic.DISABLED, "it was stopped; taken over as paused"))
    if mail := str(row.get("alarm_email") or "").strip():
        differences.append(
            ImportDifference(DifferenceTopic.IGNORED, f"its alarms went to {mail}: name alert channels under contacts")
        )
    return ImportedJob(
        name=name,
        source=conf,
        trigger=trigger,
        policies=policies,
        payload={key: row[key] for key in ("executor_handler", "executor_param") if row.get(key)},
        description=description_in(row.get("job_desc")),
        owner=owner_in(row.get("author")),
        differences=tuple(differences),
        paused=stopped,
    )


def _policies(row: Mapping[str, Any]) -> Policies:
    misfire = str(row.get("misfire_strategy") or "DO_NOTHING")
    block = str(row.get("executor_block_strategy") or "SERIAL_EXECUTION")
    if misfire not in MISFIRES:
        raise InvalidSchedule(f"{misfire!r} is no misfire strategy of XXL-JOB")
    if block not in BLOCKS:
        raise InvalidSchedule(f"{block!r} is no blocking strategy of XXL-JOB")
    return Policies(misfire=Misfire(MISFIRES[misfire]), overlap=BLOCKS[block])


def _trigger(
    name: str, kind: str, conf: str, zone_name: str, anchor: datetime, salt: str
) -> tuple[Trigger, list[ImportDifference]]:
    match kind:
        case "CRON":
            found = quartz.read(name, conf, zone_name=zone_name, salt=salt)
            if not isinstance(found, ImportedJob):
                raise InvalidSchedule(found.reason)
            zone = ImportDifference(
                DifferenceTopic.ZONE, f"XXL-JOB follows its server's clock; the job is fixed to {zone_name}"
            )
            return found.trigger, [zone, *found.differences]
        case "FIX_RATE":
            rhythm = ImportDifference(
                DifferenceTopic.RHYTHM, "XXL-JOB counts from the last trigger; ours from a fixed anchor, without drift"
            )
            return IntervalTrigger(float(conf), anchor), [rhythm]
        case "NONE":
            return ManualTrigger(), []
        case _:
            raise InvalidSchedule(f"{kind!r} is no schedule type we can take over")


def read_all(rows: bytes, *, server_zone: str, anchor: datetime, salt: str = "") -> list[Found]:
    """Reads rows from a JSON array, such as an export of the table."""
    decoded = msgspec.json.decode(rows, type=list[dict[str, Any]])
    return [read(row, server_zone=server_zone, anchor=anchor, salt=salt) for row in decoded]
