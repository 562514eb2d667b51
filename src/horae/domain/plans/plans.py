"""Plans: the steps from the stored jobs to the jobs that a source of schedules declares.

Three sides are compared: what the source declares, what the job has now, and what it had when it was last applied.
Changes that were made elsewhere since then are reported and kept, until a person decides otherwise.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.graphs.checks import check_graph
from horae.domain.jobs.diffs import FieldDifference, differences
from horae.domain.jobs.jobs import Definition, Job, Status, StepRequest, check_change, check_labels, check_name
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger
from horae.domain.steps import Steps

OWNER: Final = "horae.owner"
"""The label with the source that a job was applied from."""
APPLIED: Final = "horae.applied"
"""The label with the version of the job that the source last wrote."""
SHADOW: Final = "horae.shadow"
"""The label of a shadow job: it stays paused, and its computed fires are compared with another system's."""
OURS: Final = "horae."
"""The prefix of labels that Horae writes."""
UNDECLARED_FIELDS: Final = {"overrides", "graph", "graph_plan", "step_of"}
"""Fields of a definition that a source does not declare. A graph is compared by its declared steps."""
STEP_FIELDS: Final = {"trigger", "labels", "policies"}
"""Fields of a definition that a step does not have."""


class DeclaredJob(msgspec.Struct, frozen=True, kw_only=True):
    """One declared job. `paused` None: keep the status. `anchored`: the source declares the interval's anchor."""

    name: str
    definition: Definition
    paused: bool | None = None
    shadow: bool = False
    anchored: bool = True


class StoredJob(msgspec.Struct, frozen=True):
    """A stored job, and what it had when its source last wrote it; None when that is not known."""

    job: Job
    base: Definition | None = None


class CreateStep(msgspec.Struct, frozen=True, tag="create"):
    """Create the job."""

    name: str
    definition: Definition
    paused: bool = False


class ChangeStep(msgspec.Struct, frozen=True, tag="change"):
    """Change the job, or its status; `pause` None leaves the status."""

    name: str
    job: Job
    definition: Definition
    fields: tuple[FieldDifference, ...]
    pause: bool | None = None
    edits: tuple[FieldDifference, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether it writes a new version: fields differ, or an edit that was made elsewhere must be recorded."""
        return bool(self.fields or self.edits)


class Keep(msgspec.Struct, frozen=True, tag="keep"):
    """Nothing to do."""

    name: str
    job: Job


class Prune(msgspec.Struct, frozen=True, tag="prune"):
    """Remove the job: its source no longer declares it."""

    name: str
    job: Job


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """Leave the job, although its source no longer declares it: pruning was not requested."""

    name: str
    job: Job


class ConflictStep(msgspec.Struct, frozen=True, tag="conflict"):
    """A person must decide: the job was changed (`edits`) or created elsewhere. `force` is the step if they insist."""

    name: str
    reason: str
    force: ChangeStep | Prune
    edits: tuple[FieldDifference, ...] = ()


class RefusedStep(msgspec.Struct, frozen=True, tag="refused"):
    """The step is not possible as declared, even with force."""

    name: str
    reason: str


Step = CreateStep | ChangeStep | Keep | Prune | Leave | ConflictStep | RefusedStep
CHANGES: Final = (CreateStep, ChangeStep, Prune)


def word_of(step: Step) -> str:
    """Return the name of a step for people."""
    return str(step.__struct_config__.tag)


def decision_steps(
    owner: str,
    declared: Iterable[DeclaredJob],
    standing: Mapping[str, StoredJob],
    *,
    prune: bool = False,
    force: bool = False,
) -> Steps[list[Step]]:
    """Return a step for every declared job and for every job of this owner that is no longer declared, by name.

    The computation pauses after each job.
    """
    wanted = {one.name: one for one in declared}
    gone = [name for name, one in standing.items() if name not in wanted and owner_of(one.job) == owner]
    found: list[Step] = []
    for one in wanted.values():
        found.append(_step(owner, one, standing.get(one.name)))
        yield
    for name in gone:
        found.append(_undeclared_step(standing[name], prune))
        yield
    insisted = [step.force if force and isinstance(step, ConflictStep) else step for step in found]
    return sorted(insisted, key=lambda step: step.name)


def owner_of(job: Job) -> str | None:
    """Return the source that a job was applied from."""
    return job.definition.labels.get(OWNER)


def applied_of(job: Job) -> int | None:
    """Return the version that its source last wrote."""
    written = job.definition.labels.get(APPLIED, "")
    return int(written) if written.isascii() and written.isdigit() else None


def check_owner(owner: str) -> None:
    """Refuse an owner that cannot be the value of a label."""
    if not owner:
        raise Invalid("a source of schedules needs an owner: write `owner: …` at its top, or give --owner")
    check_labels({OWNER: owner})


def declared_fields(definition: Definition) -> dict[str, Any]:
    """Return the declared fields of a definition: without our labels, overrides and derived values."""
    fields: dict[str, Any] = msgspec.to_builtins(definition)
    fields = {key: value for key, value in fields.items() if key not in UNDECLARED_FIELDS}
    fields["trigger"] = _declared_trigger(fields["trigger"])
    fields["priority"] = definition.priority.name.lower()
    fields["labels"] = {key: value for key, value in definition.labels.items() if key not in {OWNER, APPLIED}}
    if definition.after is not None:
        fields["after"] = {"job": definition.after.job, "on": definition.after.on}
    if definition.graph_plan is not None:
        fields["steps"] = {step.plan.name: _step_fields(step) for step in definition.graph_plan.steps}
        fields["run_deadline"] = definition.graph_plan.deadline
    return fields


def _step_fields(step: StepRequest) -> dict[str, Any]:
    """Return the declared fields of a step."""
    planned = msgspec.to_builtins(step.plan)
    fields = {key: value for key, value in declared_fields(step.definition).items() if key not in STEP_FIELDS}
    return fields | {key: value for key, value in planned.items() if key != "name"}


def _declared_trigger(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a trigger, and of a cron schedule within it, without derived values."""
    return {
        key: _declared_trigger(value) if isinstance(value, dict) else value
        for key, value in fields.items()
        if key not in {"tzdata", "salt"}
    }


def with_owner(definition: Definition, owner: str, version: int) -> Definition:
    """Return the definition as it is stored: with the labels for its owner and its version."""
    return replace(definition, labels={**definition.labels, OWNER: owner, APPLIED: str(version)})


def _step(owner: str, wanted: DeclaredJob, found: StoredJob | None) -> Step:
    try:
        definition = _declared(wanted)
        if found is None:
            return CreateStep(wanted.name, with_owner(definition, owner, 1), bool(wanted.paused) or wanted.shadow)
        definition = _with_stored_values(wanted, definition, found.job.definition)
        check_change(found.job.definition, definition)
    except Invalid as error:
        return RefusedStep(wanted.name, str(error))
    return _compare(owner, wanted, definition, found)


def _compare(owner: str, wanted: DeclaredJob, definition: Definition, found: StoredJob) -> Step:
    """Return the step for a declared job that is stored.

    1. A job without an owner is a conflict; a job of another owner is refused.
    2. Without differences, edits or a change of status the job is kept.
    3. A declared difference in a field that was edited elsewhere since the last application is a conflict.
    4. Otherwise the job is changed.
    """
    job, holder = found.job, owner_of(found.job)
    fields = tuple(differences(declared_fields(job.definition), declared_fields(definition)))
    pause = _pause(wanted, job)
    edits = edits_elsewhere(found)
    change = ChangeStep(job.name, job, with_owner(definition, owner, job.version + 1), fields, pause, edits)
    if holder is None:
        return ConflictStep(job.name, "it was made by somebody else, not from here", change)
    if holder != owner:
        return RefusedStep(job.name, f"it belongs to {holder!r}; take it out there first")
    if not fields and pause is None and not edits:
        return Keep(job.name, job)
    clash = tuple(edit for edit in edits if any(_paths_overlap(edit.path, field.path) for field in fields))
    if clash:
        return ConflictStep(job.name, "somebody changed it since it was last applied", change, clash)
    return change


def edits_elsewhere(found: StoredJob) -> tuple[FieldDifference, ...]:
    """Return what was changed elsewhere since the source last wrote the job; everything if that is unknown."""
    if found.base is None:
        return (FieldDifference("", msgspec.UNSET, declared_fields(found.job.definition)),)
    return tuple(differences(declared_fields(found.base), declared_fields(found.job.definition)))


def _undeclared_step(found: StoredJob, prune: bool) -> Step:
    job = found.job
    if not prune:
        return Leave(job.name, job)
    edits = edits_elsewhere(found)
    if edits:
        reason = "it is declared no longer, but somebody changed it since it was last applied"
        return ConflictStep(job.name, reason, Prune(job.name, job), edits)
    return Prune(job.name, job)


def _declared(wanted: DeclaredJob) -> Definition:
    check_name(wanted.name)
    check_labels(wanted.definition.labels)
    check_graph(wanted.name, wanted.definition)
    if any(key.startswith(OURS) for key in wanted.definition.labels):
        raise Invalid(f"labels that begin with {OURS!r} are written by us; choose another key")
    labels = {**wanted.definition.labels, SHADOW: "true"} if wanted.shadow else wanted.definition.labels
    return replace(wanted.definition, labels=labels)


def _with_stored_values(wanted: DeclaredJob, definition: Definition, now: Definition) -> Definition:
    """Return the definition with the job's own values for fields that are not declared: anchor, overrides, width."""
    trigger, before = definition.trigger, now.trigger
    if isinstance(trigger, IntervalTrigger) and isinstance(before, IntervalTrigger):
        trigger = before if not wanted.anchored and trigger.every == before.every else trigger
    if isinstance(trigger, CronTrigger) and isinstance(before, CronTrigger):
        planned = replace(before, tzdata=trigger.tzdata)
        trigger = before if trigger == planned else trigger  # only the release of the zone rules differs
    return replace(
        definition,
        trigger=trigger,
        overrides=now.overrides if trigger == before else (),
        width=now.width if definition.width is None else definition.width,
    )


def _pause(wanted: DeclaredJob, job: Job) -> bool | None:
    """Whether to pause the job, resume it, or leave it (None). A job that is no longer a shadow starts to fire."""
    asked = True if wanted.shadow else wanted.paused
    if asked is None and SHADOW in job.definition.labels:
        asked = False
    if asked is True and job.status == Status.ACTIVE:
        return True
    if asked is False and job.status == Status.PAUSED:
        return False
    return None


def _paths_overlap(one: str, other: str) -> bool:
    """Whether two paths name the same field, or one a part of the other."""
    return not one or one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
