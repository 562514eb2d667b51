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
from horae.domain.graphs.graphs import DEFAULT_RUN_S, GRAPH_QUEUE, StepPlan
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Definition, GraphPlan, StepRequest, own_queue
from horae.domain.rolling.rolling import ONE_TRY
from horae.domain.schedules.triggers import (
    CronTrigger,
    ManualTrigger,
    RollingTrigger,
    Trigger,
    TriggerKind,
    cron,
)
from horae.domain.targets.targets import QueueTarget
from horae.domain.tenants.tenants import Tenant
from horae.domain.zones import zones


def definition_of(said: Mapping[str, Any], tenant: Tenant, name: str, now: datetime) -> Definition:
    """Return the definition of a job of this name, with all defaults filled in. A null field is an omitted one."""
    facts = {field: value for field, value in said.items() if value is not None}
    trigger = _trigger(facts, tenant, name, now)
    facts["trigger"] = trigger
    facts["priority"] = _priority(facts.get("priority", Priority.NORMAL.name))
    facts |= _graph_facts(facts, name)
    facts.setdefault("target", own_queue(name))
    if isinstance(trigger, RollingTrigger):
        facts.setdefault("retry", ONE_TRY)
    return msgspec.convert(facts, Definition)


def _graph_facts(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what the steps of a graph add to the fields of its definition; nothing for another job."""
    if "steps" not in facts:
        if "run_deadline" in facts:
            raise Invalid("run_deadline belongs to a graph: a job with steps")
        return {}
    for field in ("target", "retry"):
        if field in facts:
            raise Invalid(f"{field} belongs to the steps of a graph: its runs make no call")
    steps = tuple(_step(said, name, facts["priority"]) for said in facts["steps"])
    plan = GraphPlan(steps, facts.get("run_deadline", DEFAULT_RUN_S))
    return {"target": QueueTarget(GRAPH_QUEUE), "graph_plan": plan}


def _step(said: Mapping[str, Any], graph: str, priority: Priority) -> StepRequest:
    """Return a declared step. Without a target it waits in the queue `graph.step`; its priority is the graph's."""
    facts = {field: value for field, value in said.items() if value is not None}
    planned = {field: facts.pop(field) for field in StepPlan.__struct_fields__ if field in facts}
    facts["priority"] = _priority(facts["priority"]) if "priority" in facts else priority
    facts["trigger"] = ManualTrigger()
    facts.setdefault("target", own_queue(step_queue(graph, planned["name"])))
    return StepRequest(msgspec.convert(planned, StepPlan), msgspec.convert(facts, Definition))


def step_queue(graph: str, step: str) -> str:
    """Return the name of the pull queue in which a step waits that has no target."""
    return f"{graph}.{step}"


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
    if said["kind"] == TriggerKind.ROLLING:
        said = _rolling(said, tenant, name)
    made: Trigger = msgspec.convert(said, Trigger)
    return made


def _rolling(said: Mapping[str, Any], tenant: Tenant, name: str) -> dict[str, Any]:
    """Return the fields of a rolling trigger, with the zones of a cron schedule and of a calendar window filled in."""
    every, window = said["every"], said["window"]
    if isinstance(every, Mapping):
        every = msgspec.to_builtins(replace(_cron(every, tenant, name), tzdata=""))  # no tick is planned ahead
    if isinstance(window, Mapping):
        window = {key: value for key, value in window.items() if value is not None}
        window = {**window, "zone": window.get("zone") or tenant.zone}
        zones.zone(window["zone"])  # refuses a zone that does not exist
    return {**said, "every": every, "window": window}


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
