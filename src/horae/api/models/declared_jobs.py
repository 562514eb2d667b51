"""Jobs that a source of schedules declares: the fields of the API, plus `every`, `paused` and `shadow`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from horae.api.models.jobs import JobSpec
from horae.domain.errors import Invalid
from horae.domain.plans.plans import DeclaredJob
from horae.domain.steps import Steps
from horae.domain.tenants.tenants import Tenant

KINDS: Final = {"cron", "interval", "once", "delay", "keyed", "manual", "http", "queue"}
"""Parts of an error path that only name the kind of a trigger or target; they are left out of messages."""
MAX_REPORTED_JOBS: Final = 50
"""Jobs with errors that one refusal names."""


def declaration_steps(jobs: Mapping[str, Any], tenant: Tenant, now: datetime) -> Steps[list[DeclaredJob]]:
    """Returns the declared jobs; the errors of all jobs are raised together. It pauses after each job."""
    found: list[DeclaredJob] = []
    wrong: list[str] = []
    for name, fields in jobs.items():
        try:
            found.append(_job(name, fields, tenant, now))
        except Invalid as error:
            wrong.append(f"{name}: {error}")
        yield
    if len(wrong) > MAX_REPORTED_JOBS:
        wrong[MAX_REPORTED_JOBS:] = [f"and {len(wrong) - MAX_REPORTED_JOBS} more jobs"]
    if wrong:
        raise Invalid("; ".join(wrong))
    return found


def _job(name: str, fields: Any, tenant: Tenant, now: datetime) -> DeclaredJob:
    if not isinstance(fields, Mapping):
        raise Invalid("a job must be a mapping")
    said = dict(fields)
    paused, shadow = said.pop("paused", None), said.pop("shadow", False)
    if paused not in (None, True, False) or not isinstance(shadow, bool):
        raise Invalid("`paused` and `shadow` are true or false")
    if "every" in said:
        if said.keys() & {"cron", "trigger"}:
            raise Invalid("a job has one trigger: `cron`, `every` or `trigger`")
        said["trigger"] = {"kind": "interval", "every": said.pop("every")}
    try:
        spec = JobSpec.model_validate(said)
        definition = spec.definition(tenant, name, now)
    except ValidationError as error:
        raise Invalid("; ".join(_sentence(one) for one in error.errors())) from error
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from error
    trigger = said.get("trigger") or {}
    anchored = not isinstance(trigger, Mapping) or trigger.get("kind") != "interval" or "anchor" in trigger
    return DeclaredJob(name=name, definition=definition, paused=paused, shadow=shadow, anchored=anchored)


def _sentence(error: Any) -> str:
    first, *rest = (*map(str, error["loc"]), "")
    place = ".".join([first, *(part for part in rest if part and part not in KINDS)])
    strange = error["type"] == "extra_forbidden"
    said = "unknown field of a job" if strange else str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
