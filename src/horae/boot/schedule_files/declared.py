"""Turns the fields of a file or a module into declared jobs. The fields are the API's, plus `paused` and `shadow`."""

from datetime import datetime
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.plans.plans import DeclaredJob
from horae.domain.steps import finish
from horae.domain.tenants.tenants import Tenant

TOP: Final = {"owner", "defaults", "jobs"}


class ScheduleFile(msgspec.Struct, frozen=True):
    """The jobs that one source declares, not yet parsed."""

    owner: str
    jobs: dict[str, dict[str, Any]]

    def parse(self, tenant: Tenant, now: datetime) -> list[DeclaredJob]:
        """Parse every job. All errors are raised together."""
        from horae.api.models.declared_jobs import declaration_steps  # noqa: PLC0415 - the API parses them for `plan`

        return finish(declaration_steps(self.jobs, tenant, now))


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
