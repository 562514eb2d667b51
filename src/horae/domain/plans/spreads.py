"""Plans that set the spread windows of jobs, whoever declares these."""

from typing import NamedTuple

from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.jobs.diffs import differences
from horae.domain.jobs.jobs import Job
from horae.domain.plans.plans import ChangeStep, ConflictStep, Keep, RefusedStep, Step, declared_fields


class SpreadChange(NamedTuple):
    """The window, in seconds, that a job of this version gets."""

    version: int
    window: float


def spread_step(name: str, job: Job | None, wanted: SpreadChange) -> Step:
    """Return the step that gives a job its window.

    1. A job that is not there, or that needs its exact second, is refused.
    2. A job that has this window is kept: a plan that was applied has nothing left to do.
    3. A job of another version is a conflict.
    4. Otherwise only the window changes; the job stays with its source of schedules.
    """
    if job is None:
        return RefusedStep(name, "there is no such job")
    before = job.definition
    if before.policies.spread.exact:
        return RefusedStep(name, "its owner needs its exact second")
    if before.policies.spread.window == wanted.window:
        return Keep(name, job)
    try:
        spread = replace(before.policies.spread, window=wanted.window)
    except Invalid as error:
        return RefusedStep(name, str(error))
    after = replace(before, policies=replace(before.policies, spread=spread))
    fields = tuple(differences(declared_fields(before), declared_fields(after)))
    change = ChangeStep(name, job, after, fields)
    if job.version != wanted.version:
        return ConflictStep(
            name, f"it is at version {job.version}; its window was computed for {wanted.version}", change
        )
    return change
