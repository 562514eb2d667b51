"""The one way from what a person says about a job to its `Definition`.

The API, schedule files, importers and the command line all say it in the fields of the API. Each of them checks its own
form first; `definition_of` fills in what is omitted.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Definition, own_queue
from horae.domain.rolling.rolling import ONE_TRY
from horae.domain.schedules.triggers import (
    CronTrigger,
    ManualTrigger,
    RollingTrigger,
    Trigger,
    TriggerKind,
    cron,
)
from horae.domain.tenants.tenants import Tenant


def definition_of(said: Mapping[str, Any], tenant: Tenant, name: str, now: datetime) -> Definition:
    """Return the definition of a job of this name, with all defaults filled in. A null field is an omitted one."""
    facts = {field: value for field, value in said.items() if value is not None}
    trigger = _trigger(facts, tenant, name, now)
    facts["trigger"] = trigger
    facts["priority"] = _priority(facts.get("priority", Priority.NORMAL.name))
    facts.setdefault("target", own_queue(name))
    if isinstance(trigger, RollingTrigger):
        facts.setdefault("retry", ONE_TRY)
    return msgspec.convert(facts, Definition)


def _trigger(facts: Mapping[str, Any], tenant: Tenant, name: str, now: datetime) -> Trigger:
    """Return the trigger. `cron`, `dialect` and `timezone` are short for a cron trigger."""
    if "cron" in facts:
        short = {"expression": facts["cron"], "dialect": facts.get("dialect"), "zone": facts.get("timezone")}
        return _cron(short, tenant, name)
    said = facts.get("trigger")
    if said is None:
        return ManualTrigger()
    if said["kind"] == TriggerKind.CRON:
        return _cron(said, tenant, name)
    if said["kind"] in {TriggerKind.INTERVAL, TriggerKind.ROLLING}:
        said = {**said, "anchor": said.get("anchor") or now.replace(microsecond=0)}
    made: Trigger = msgspec.convert(said, Trigger)
    return made


def _cron(said: Mapping[str, Any], tenant: Tenant, name: str) -> CronTrigger:
    dialect = msgspec.convert(said.get("dialect"), Dialect | None)
    zone = said.get("zone") or tenant.zone
    made = cron(said["expression"], dialect=dialect, zone_name=zone, salt=f"{tenant.name}/{name}")
    return replace(
        made,
        dst_gap=msgspec.convert(said.get("dst_gap", made.dst_gap), Gap),
        dst_overlap=msgspec.convert(said.get("dst_overlap", made.dst_overlap), Overlap),
    )


def _priority(word: str) -> Priority:
    try:
        return Priority[word.upper()]
    except KeyError as error:
        raise Invalid(f"a priority is critical, normal or low, not {word!r}") from error
