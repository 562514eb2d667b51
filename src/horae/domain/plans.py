"""What a source of schedules wants of the jobs that are there: create, change, keep, prune, or ask a person first.

Three sides are compared: what the source declares, what the job says now, and what it said when it was last applied.
Whatever somebody else changed since then is shown and left alone, until a person says otherwise.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from horae.domain.diffs import Difference, differences
from horae.domain.errors import Invalid
from horae.domain.jobs import Definition, Job, Status, check_change, check_labels, check_name
from horae.domain.triggers import CronTrigger, IntervalTrigger

OWNER: Final = "horae.owner"
"""The label that says which source a job was applied from."""
APPLIED: Final = "horae.applied"
"""The label that says which version of the job the source last wrote."""
SHADOW: Final = "horae.shadow"
"""The label of a job that only watches: it stays paused, and its computed fires are compared with another system's."""
OURS: Final = "horae."
UNSAID: Final = {"overrides", "key_retention_days"}


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One job as a source has it. `paused` None: as it stands. `anchored`: an interval's anchor was written down."""

    name: str
    definition: Definition
    paused: bool | None = None
    shadow: bool = False
    anchored: bool = True


class Standing(msgspec.Struct, frozen=True):
    """A job that is there, and what it said when its source last wrote it; None when nobody knows."""

    job: Job
    base: Definition | None = None


class Create(msgspec.Struct, frozen=True, tag=True):
    """There is no such job."""

    name: str
    definition: Definition
    paused: bool = False


class Change(msgspec.Struct, frozen=True, tag=True):
    """The job says something else, or stands otherwise: `pause` None leaves its status alone."""

    name: str
    job: Job
    definition: Definition
    fields: tuple[Difference, ...]
    pause: bool | None = None
    edits: tuple[Difference, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether it makes a new version: for what differs, or to note what somebody else did in our sense."""
        return bool(self.fields or self.edits)


class Keep(msgspec.Struct, frozen=True, tag=True):
    """Nothing to do."""

    name: str
    job: Job


class Prune(msgspec.Struct, frozen=True, tag=True):
    """The source has it no longer."""

    name: str
    job: Job


class Leave(msgspec.Struct, frozen=True, tag=True):
    """The source has it no longer, and nobody asked to prune."""

    name: str
    job: Job


class Conflict(msgspec.Struct, frozen=True, tag=True):
    """A person decides: somebody else changed it (`edits`), or made it by hand. `force` is what insisting would do."""

    name: str
    reason: str
    force: Change | Prune
    edits: tuple[Difference, ...] = ()


class Refused(msgspec.Struct, frozen=True, tag=True):
    """It cannot be done as written, whoever insists."""

    name: str
    reason: str


Step = Create | Change | Keep | Prune | Leave | Conflict | Refused
CHANGES: Final = (Create, Change, Prune)


def decide(
    owner: str,
    declared: Iterable[Declared],
    standing: Mapping[str, Standing],
    *,
    prune: bool = False,
    force: bool = False,
) -> list[Step]:
    """A step for every declared job and for every job of this owner that is declared no longer, by name."""
    wanted = {one.name: one for one in declared}
    gone = [name for name, one in standing.items() if name not in wanted and owner_of(one.job) == owner]
    steps = [_step(owner, one, standing.get(one.name)) for one in wanted.values()]
    steps += [_gone(standing[name], prune) for name in gone]
    found = [step.force if force and isinstance(step, Conflict) else step for step in steps]
    return sorted(found, key=lambda step: step.name)


def owner_of(job: Job) -> str | None:
    """The source a job was applied from."""
    return job.definition.labels.get(OWNER)


def applied_of(job: Job) -> int | None:
    """The version its source last wrote."""
    written = job.definition.labels.get(APPLIED, "")
    return int(written) if written.isascii() and written.isdigit() else None


def check_owner(owner: str) -> None:
    """Refuse an owner that could not be a label's value."""
    if not owner:
        raise Invalid("a source of schedules needs an owner: write `owner: …` at its top, or give --owner")
    check_labels({OWNER: owner})


def said(definition: Definition) -> dict[str, Any]:
    """What of a definition a source writes down: without our marks, single occurrences, and what is derived."""
    told: dict[str, Any] = msgspec.to_builtins(definition)
    told = {key: value for key, value in told.items() if key not in UNSAID}
    told["trigger"] = {key: value for key, value in told["trigger"].items() if key not in {"tzdata", "salt"}}
    told["priority"] = definition.priority.name.lower()
    told["labels"] = {key: value for key, value in definition.labels.items() if key not in {OWNER, APPLIED}}
    return told


def marked(definition: Definition, owner: str, version: int) -> Definition:
    """The definition as it is written: with its owner and the version it becomes."""
    return replace(definition, labels={**definition.labels, OWNER: owner, APPLIED: str(version)})


def _step(owner: str, wanted: Declared, found: Standing | None) -> Step:
    try:
        definition = _declared(wanted)
        if found is None:
            return Create(wanted.name, marked(definition, owner, 1), bool(wanted.paused) or wanted.shadow)
        definition = _carried(wanted, definition, found.job.definition)
        check_change(found.job.definition, definition)
    except Invalid as error:
        return Refused(wanted.name, str(error))
    return _compare(owner, wanted, definition, found)


def _compare(owner: str, wanted: Declared, definition: Definition, found: Standing) -> Step:
    job, holder = found.job, owner_of(found.job)
    fields = tuple(differences(said(job.definition), said(definition)))
    pause = _pause(wanted, job)
    edits = edited(found)
    change = Change(job.name, job, marked(definition, owner, job.version + 1), fields, pause, edits)
    if holder is None:
        return Conflict(job.name, "it was made by somebody else, not from here", change)
    if holder != owner:
        return Refused(job.name, f"it belongs to {holder!r}; take it out there first")
    if not fields and pause is None and not edits:
        return Keep(job.name, job)
    clash = tuple(edit for edit in edits if any(_meets(edit.path, field.path) for field in fields))
    if clash:
        return Conflict(job.name, "somebody changed it since it was last applied", change, clash)
    return change


def edited(found: Standing) -> tuple[Difference, ...]:
    """What somebody else changed since the source last wrote it; everything where its last word is not known."""
    if found.base is None:
        return (Difference("", msgspec.UNSET, said(found.job.definition)),)
    return tuple(differences(said(found.base), said(found.job.definition)))


def _gone(found: Standing, prune: bool) -> Step:
    job = found.job
    if not prune:
        return Leave(job.name, job)
    edits = edited(found)
    if edits:
        reason = "it is declared no longer, but somebody changed it since it was last applied"
        return Conflict(job.name, reason, Prune(job.name, job), edits)
    return Prune(job.name, job)


def _declared(wanted: Declared) -> Definition:
    check_name(wanted.name)
    check_labels(wanted.definition.labels)
    if any(key.startswith(OURS) for key in wanted.definition.labels):
        raise Invalid(f"labels that begin with {OURS!r} are written by us; choose another key")
    labels = {**wanted.definition.labels, SHADOW: "true"} if wanted.shadow else wanted.definition.labels
    return replace(wanted.definition, labels=labels)


def _carried(wanted: Declared, definition: Definition, now: Definition) -> Definition:
    """With what the source does not say, as the job has it: an anchor, single occurrences, a type's width."""
    trigger, before = definition.trigger, now.trigger
    if isinstance(trigger, IntervalTrigger) and isinstance(before, IntervalTrigger):
        trigger = before if not wanted.anchored and trigger.every == before.every else trigger
    if isinstance(trigger, CronTrigger) and isinstance(before, CronTrigger):
        planned = replace(before, tzdata=trigger.tzdata)
        trigger = before if trigger == planned else trigger  # planned by an older release of the zones: the same words
    return replace(
        definition,
        trigger=trigger,
        overrides=now.overrides if trigger == before else (),
        width=now.width if definition.width is None else definition.width,
        key_retention_days=now.key_retention_days,
    )


def _pause(wanted: Declared, job: Job) -> bool | None:
    """Whether it is to be paused, resumed, or left as it stands. What leaves the shadow begins to fire."""
    asked = True if wanted.shadow else wanted.paused
    if asked is None and SHADOW in job.definition.labels:
        asked = False
    if asked is True and job.status == Status.ACTIVE:
        return True
    if asked is False and job.status == Status.PAUSED:
        return False
    return None


def _meets(one: str, other: str) -> bool:
    """Whether two paths speak of the same place, or one of a part of the other."""
    return not one or one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
