"""Turns the fields of a file or a module into declared jobs. The fields are the API's, plus `paused` and `shadow`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from horae.api.models.jobs import JobSpec
from horae.domain.errors import Invalid
from horae.domain.plans.plans import DeclaredJob
from horae.domain.tenants.tenants import Tenant

KINDS: Final = {"cron", "interval", "once", "delay", "keyed", "manual", "http", "queue"}
"""Parts of an error path that only name the kind of a trigger or target; they are left out of messages."""
TOP: Final = {"owner", "defaults", "jobs"}


class ScheduleFile(msgspec.Struct, frozen=True):
    """The jobs that one source declares, not yet parsed."""

    owner: str
    jobs: dict[str, dict[str, Any]]

    def parse(self, tenant: Tenant, now: datetime) -> list[DeclaredJob]:
        """Parse every job. All errors are raised together."""
        found, wrong = [], []
        for name, words in self.jobs.items():
            try:
                found.append(_job(name, words, tenant, now))
            except Invalid as error:
                wrong.append(f"{name}: {error}")
        if wrong:
            raise Invalid("; ".join(wrong))
        return found


def source_of(read: Any, owner: str | None, where: str) -> ScheduleFile:
    """Convert a document to a source; `owner` overrides the owner in the document."""
    if not isinstance(read, dict) or not isinstance(read.get("jobs"), dict):
        raise Invalid(f"{where} needs `jobs:`, a mapping from a job's name to what it says")
    strange = set(map(str, read)) - TOP
    if strange:
        raise Invalid(f"{where} has {', '.join(sorted(strange))}; known are {', '.join(sorted(TOP))}")
    defaults = read.get("defaults") or {}
    jobs = {str(name): words for name, words in read["jobs"].items()}
    wrong = [name for name, words in (*jobs.items(), ("defaults", defaults)) if not isinstance(words or {}, dict)]
    if wrong:
        raise Invalid(f"{where}: each of these must be a mapping: {', '.join(wrong)}")
    return ScheduleFile(
        str(owner or read.get("owner") or ""), {name: {**defaults, **(jobs[name] or {})} for name in jobs}
    )


def _job(name: str, words: Mapping[str, Any], tenant: Tenant, now: datetime) -> DeclaredJob:
    said = dict(words)
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
