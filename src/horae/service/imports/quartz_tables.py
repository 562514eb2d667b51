"""Reads the tables of Quartz (`QRTZ_…`): cron and simple triggers with their job, state and end time."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from msgspec.structs import replace

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import Misfire, OnOverlap, Policies
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger, Trigger
from horae.service.imports import quartz
from horae.service.imports.dumps import Tables
from horae.service.imports.results import (
    DifferenceTopic,
    Found,
    ImportDifference,
    ImportedJob,
    RefusedEntry,
    description_in,
    refused_entry,
)

PREFIX: Final = "qrtz_"
CRON_TABLE: Final = f"{PREFIX}cron_triggers"
SIMPLE_TABLE: Final = f"{PREFIX}simple_triggers"
TRIGGERS_TABLE: Final = f"{PREFIX}triggers"
DETAILS_TABLE: Final = f"{PREFIX}job_details"
INSTRUCTIONS: Final = {-1: "IGNORE_MISFIRE_POLICY", 0: "SMART_POLICY", 1: "FIRE_ONCE_NOW", 2: "DO_NOTHING"}
FOR_EVER_MS: Final = 253_370_764_800_000
"""Milliseconds since 1970 of the year 9999, which Quartz uses for "no end"."""
YES: Final = {"1", "t", "true", "y", "yes"}
Row = Mapping[str, Any]


def read(tables: Tables, *, zone: str, salt: str = "") -> list[Found]:
    """Reads every trigger. `zone` is the zone of the scheduler's machine, for triggers that name none."""
    about = {_key(row): row for row in tables.get(TRIGGERS_TABLE, [])}
    details = {(row.get("job_name"), row.get("job_group")): row for row in tables.get(DETAILS_TABLE, [])}
    found = [_cron(row, about.get(_key(row), {}), details, zone, salt) for row in tables.get(CRON_TABLE, [])]
    found += [_simple(row, about.get(_key(row), {}), details) for row in tables.get(SIMPLE_TABLE, [])]
    known = {_key(row) for row in (*tables.get(CRON_TABLE, []), *tables.get(SIMPLE_TABLE, []))}
    return found + [_unknown(row) for key, row in about.items() if key not in known]


def _cron(row: Row, about: Row, details: Mapping[Any, Row], zone: str, salt: str) -> Found:
    expression = str(row.get("cron_expression") or "").strip()
    job = _job(about, details)
    named = row.get("time_zone_id")
    made = quartz.read(
        _name(row),
        expression,
        zone_name=str(named or zone),
        misfire=INSTRUCTIONS.get(int(about.get("misfire_instr") or 0), "?"),
        concurrent=not _yes(job.get("is_nonconcurrent")),
        salt=salt,
    )
    if isinstance(made, RefusedEntry):
        return made
    zoned = (
        []
        if named
        else [ImportDifference(DifferenceTopic.ZONE, f"Quartz follows its machine's clock; the job is fixed to {zone}")]
    )
    return _around(replace(made, differences=(*zoned, *made.differences)), about, job)


def _simple(row: Row, about: Row, details: Mapping[Any, Row]) -> Found:
    name, job = _name(row), _job(about, details)
    repeats, every = int(row.get("repeat_count") or 0), int(row.get("repeat_interval") or 0) / 1000
    source = f"every {every:g} s, {'for ever' if repeats < 0 else f'{repeats} times more'}"
    start = _moment(about.get("start_time"))
    try:
        if start is None:
            raise InvalidSchedule(f"the row of {TRIGGERS_TABLE} that says when it starts is missing from the dump")
        trigger: Trigger = OnceTrigger(start) if not repeats else IntervalTrigger(every, start)
        policies = Policies(max_count=repeats + 1 if repeats > 0 else None)
    except InvalidSchedule as error:
        return refused_entry(name, source, error)
    text = "a simple trigger's misfires are not taken over: what was missed is made up for once"
    overlap = OnOverlap.QUEUE_ONE if _yes(job.get("is_nonconcurrent")) else OnOverlap.ALLOW
    made = ImportedJob(
        name=name,
        source=source,
        trigger=trigger,
        policies=replace(policies, misfire=Misfire(), overlap=overlap),
        differences=(ImportDifference(DifferenceTopic.MISSED, text),),
    )
    return _around(made, about, job)


def _around(made: ImportedJob, about: Row, job: Row) -> Found:
    """Adds the state, the end time and the job of a trigger."""
    differences = list(made.differences)
    if about.get("calendar_name"):
        differences.append(
            ImportDifference(DifferenceTopic.IGNORED, f"its calendar {about['calendar_name']!r} is not taken over")
        )
    if about.get("job_data") or job.get("job_data"):
        differences.append(
            ImportDifference(DifferenceTopic.IGNORED, "its job data is a Java object: give the job its payload")
        )
    paused = str(about.get("trigger_state") or "").upper().startswith("PAUSED")
    if paused:
        differences.append(ImportDifference(DifferenceTopic.DISABLED, "it was paused; taken over as paused"))
    recurring = not isinstance(made.trigger, OnceTrigger)
    try:
        policies = replace(made.policies, end=_moment(about.get("end_time")) if recurring else None)
    except InvalidSchedule as error:
        return refused_entry(made.name, made.source, error)
    called = {"job": about.get("job_name"), "job_class": job.get("job_class_name")}
    payload = {key: value for key, value in called.items() if value}
    text = description_in(about.get("description") or job.get("description"))
    return replace(
        made, policies=policies, payload=payload, description=text, paused=paused, differences=tuple(differences)
    )


def _unknown(row: Row) -> Found:
    kind = str(row.get("trigger_type") or "unknown")
    reason = f"a trigger of type {kind} is none of ours: only CRON and SIMPLE are taken over"
    return RefusedEntry(name=_name(row), source=kind, reason=reason)


def _job(about: Row, details: Mapping[Any, Row]) -> Row:
    return details.get((about.get("job_name"), about.get("job_group")), {})


def _key(row: Row) -> tuple[Any, Any]:
    return row.get("trigger_name"), row.get("trigger_group")


def _name(row: Row) -> str:
    name, group = str(row.get("trigger_name") or ""), str(row.get("trigger_group") or "DEFAULT")
    return name if group == "DEFAULT" else f"{group}.{name}"


def _moment(given: Any) -> datetime | None:
    """Reads milliseconds since 1970. Empty, 0 and the year 9999 or later mean none."""
    millis = int(given or 0)
    return datetime.fromtimestamp(millis / 1000, UTC) if 0 < millis < FOR_EVER_MS else None


def _yes(given: Any) -> bool:
    return str(given).lower() in YES or given in ("\x01", True)
