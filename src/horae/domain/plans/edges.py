"""Edges in a plan: which of them cannot work, and in which order steps are applied."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from horae.domain.errors import HoraeError, Invalid
from horae.domain.jobs.edges import After, check_edge
from horae.domain.jobs.jobs import Definition
from horae.domain.plans.plans import ChangeStep, ConflictStep, CreateStep, Prune, RefusedStep, Step
from horae.domain.schedules.triggers import KeyedTrigger, RollingTrigger


class EdgeFacts(NamedTuple):
    """The stored jobs that new edges name, and the stored edges: which job each job starts after."""

    jobs: Mapping[str, Definition]
    edges: Mapping[str, str]


def new_after(step: Step) -> After | None:
    """Return the edge that a step makes; None where it makes none, or the job has that one already."""
    definition = _written(step)
    if definition is None or definition.after is None:
        return None
    change = step.force if isinstance(step, ConflictStep) else step
    before = change.job.definition.after if isinstance(change, ChangeStep) else None
    return None if before is not None and before.declared() == definition.after.declared() else definition.after


def with_refused_edges(steps: Sequence[Step], facts: EdgeFacts) -> list[Step]:
    """Return the steps, with a refusal for each whose new edge names no job, or closes a circle with the others."""
    written = {step.name: definition for step in steps if (definition := _written(step)) is not None}
    gone = {step.name for step in steps if isinstance(step, Prune)}
    jobs = {name: one for name, one in {**facts.jobs, **written}.items() if name not in gone}
    sources = {name: source for name, source in facts.edges.items() if name not in written and name not in gone}
    sources |= {name: made.after.job for name, made in written.items() if made.after is not None}
    return [_checked(step, jobs, sources) for step in steps]


def _checked(step: Step, jobs: Mapping[str, Definition], sources: Mapping[str, str]) -> Step:
    after, definition = new_after(step), _written(step)
    if after is None or definition is None:
        return step
    try:
        if after.job == step.name:
            raise Invalid(f"job {step.name!r} cannot start after itself")
        if after.job not in jobs:
            raise Invalid(f"there is no job {after.job!r} to start after")
        has_keys = isinstance(jobs[after.job].trigger, KeyedTrigger | RollingTrigger)
        check_edge(step.name, after, is_keyed=definition.is_keyed, has_keys=has_keys, others=sources)
    except HoraeError as error:
        return RefusedStep(step.name, str(error))
    return step


def _written(step: Step) -> Definition | None:
    change = step.force if isinstance(step, ConflictStep) else step
    return change.definition if isinstance(change, CreateStep | ChangeStep) else None
