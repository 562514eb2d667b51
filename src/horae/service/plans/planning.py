"""Makes a plan: reads the stored jobs, compares them and previews the changed schedules. It writes nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Definition, Job, JobFilter, new_job
from horae.domain.plans.edges import EdgeFacts, new_after, with_refused_edges
from horae.domain.plans.plans import (
    CHANGES,
    OWNER,
    ChangeStep,
    ConflictStep,
    CreateStep,
    DeclaredJob,
    Prune,
    RefusedStep,
    Step,
    StoredJob,
    applied_of,
    check_owner,
    decision_steps,
    word_of,
)
from horae.domain.plans.spreads import SpreadChange, spread_step
from horae.domain.schedules import FireVerdict, check
from horae.domain.schedules.calendars import Calendar
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job
from horae.service.graphs.step_jobs import with_plans
from horae.service.identity.bound_keys import check_job, check_labels
from horae.service.jobs import jobs
from horae.service.schedules import calendars
from horae.service.schedules.schedules import preview_of
from horae.service.targets.egress_warnings import EgressRules, rules_of
from horae.store.jobs import edges
from horae.store.jobs import jobs as rows

PAGE: Final = 1000
"""Jobs per page."""
MAX_LISTED: Final = 3
"""Fires that a plan line lists before and after a change."""


class PlanLine(msgspec.Struct, frozen=True):
    """One step. Where the step moves fires, the next fires before and after it.

    `warnings` are those of a single job: the egress rules refuse the target that the step writes.
    """

    step: Step
    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()
    warnings: tuple[str, ...] = ()


class SourcePlan(msgspec.Struct, frozen=True):
    """Every step of one source, by name."""

    owner: str
    lines: list[PlanLine]

    @property
    def steps(self) -> list[Step]:
        """The steps alone."""
        return [line.step for line in self.lines]

    @property
    def changes(self) -> int:
        """How many steps would change something."""
        return sum(isinstance(step, CHANGES) for step in self.steps)

    @property
    def conflicts(self) -> int:
        """How many steps need a person's decision."""
        return sum(isinstance(step, ConflictStep) for step in self.steps)

    @property
    def refused(self) -> int:
        """How many steps cannot be applied as written."""
        return sum(isinstance(step, RefusedStep) for step in self.steps)

    def part(self, after: str, limit: int) -> tuple["SourcePlan", str | None]:
        """Returns the lines after a name with at most `limit` changes, and the name of the last one if more follow."""
        rest = [line for line in self.lines if line.step.name > after]
        changes = [number for number, line in enumerate(rest) if isinstance(line.step, CHANGES)]
        if len(changes) <= limit:
            return SourcePlan(self.owner, rest), None
        part = rest[: changes[limit]]
        return SourcePlan(self.owner, part), part[-1].step.name

    def counts(self) -> dict[str, int]:
        """How many steps of each kind there are."""
        return dict(Counter(word_of(step) for step in self.steps))


async def plan(
    ctx: Context, owner: str, declared: Sequence[DeclaredJob], *, prune: bool = False, force: bool = False
) -> SourcePlan:
    """Returns what applying a source would change now. Jobs of other owners are never part of it.

    It computes in slices, because an API process makes plans of thousands of jobs beside other requests.
    """
    check_owner(owner)
    for one in declared:
        check_labels(ctx, one.name, one.definition.labels | {OWNER: owner})
    standing = await _stored_jobs(ctx, owner, [one.name for one in declared])
    rules = await rules_of(ctx)
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        steps = await run_in_slices(decision_steps(owner, declared, standing, prune=prune, force=force))
        steps = with_refused_edges(steps, await _edge_facts(ctx, steps, standing))
        known = await _calendars(ctx, steps)
        return SourcePlan(owner, await run_in_slices(_line_steps(ctx, steps, known, rules)))


async def plan_spread(ctx: Context, wanted: Mapping[str, SpreadChange]) -> SourcePlan:
    """Returns what setting the spread windows of these jobs would change now. The jobs may have any owner.

    A job that was changed since the version that its window was computed from is a conflict.
    """
    found = await with_plans(ctx, [await decrypt_job(ctx, job) for job in await _named(ctx, sorted(wanted))])
    standing = {job.name: job for job in found}
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        steps = [spread_step(name, standing.get(name), change) for name, change in sorted(wanted.items())]
        known = await _calendars(ctx, steps)
        return SourcePlan("", await run_in_slices(_line_steps(ctx, steps, known, None)))


async def _stored_jobs(ctx: Context, owner: str, names: Sequence[str]) -> dict[str, StoredJob]:
    """Returns the stored jobs of these names, of any owner, and all jobs of `owner`.

    Each has the definition that its source last applied.
    """
    found = {job.name: job for job in await _owned(ctx, owner)}
    found |= {job.name: job for job in await _named(ctx, [name for name in names if name not in found])}
    whole = await with_plans(ctx, [await decrypt_job(ctx, job) for job in found.values()])
    found = {job.name: job for job in whole}
    bases = await _bases(ctx, list(found.values()))
    return {name: StoredJob(job, bases.get(job.id)) for name, job in found.items()}


async def _owned(ctx: Context, owner: str) -> list[Job]:
    found: list[Job] = []
    wanted = JobFilter(labels={OWNER: owner})
    while len(page := await jobs.page(ctx, wanted, after=found[-1].name if found else "", limit=PAGE)) == PAGE:
        found += page
    return found + page


async def _named(ctx: Context, names: Sequence[str]) -> list[Job]:
    found: list[Job] = []
    base = shard_in(ctx.tenant.id)
    places = {(placement.shard(base, name), name) for name in names for placement in ctx.tenant.placements}
    by_cell = sorted((ctx.store.cell(shard).name, shard, name) for shard, name in places)
    for _, group in groupby(by_cell, key=lambda place: place[0]):
        _, shards, asked = zip(*group, strict=True)
        async with ctx.store.statement(shards[0]) as tx:
            found += await rows.named(tx, ctx.tenant.id, shards, asked)
    return [check_job(ctx, job) for job in found]


async def _bases(ctx: Context, found: Sequence[Job]) -> dict[UUID, Definition]:
    """Returns for each job the definition in the version that its source last applied.

    Most jobs are still at that version, and their definition needs no further read.
    """
    bases = {job.id: job.definition for job in found if applied_of(job) == job.version}
    asked = [(job.shard, job.id, version) for job in found if (version := applied_of(job)) and job.id not in bases]
    by_cell = sorted(asked, key=lambda one: ctx.store.cell(one[0]).name)
    for _, group in groupby(by_cell, key=lambda one: ctx.store.cell(one[0]).name):
        wanted = list(group)
        async with ctx.store.statement(wanted[0][0]) as tx:
            old = await rows.definitions(tx, wanted)
        read = await with_plans(ctx, [await decrypt_job(ctx, job) for job in old.values() if job is not None])
        bases |= {job.id: job.definition for job in read}
    return bases


async def _edge_facts(ctx: Context, steps: Sequence[Step], standing: Mapping[str, StoredJob]) -> EdgeFacts:
    """Returns what is known of the jobs that changed edges name; nothing is read where no edge changes."""
    names = {after.job for step in steps if (after := new_after(step)) is not None}
    if not names:
        return EdgeFacts({}, {})
    found = {job.name: job for job in await _named(ctx, sorted(names - standing.keys()))}
    found |= {name: standing[name].job for name in names & standing.keys()}
    parts = await ctx.ask_each(lambda tx: edges.of_tenant(tx, ctx.tenant.id), whole=True)
    stored = {name: source for part in parts for name, source in part.items()}
    return EdgeFacts({name: job.definition for name, job in found.items()}, stored)


async def _calendars(ctx: Context, steps: Sequence[Step]) -> Mapping[str, Calendar]:
    wanted = {rule.calendar for step in steps for one in _sides(step) for rule in one.policies.calendars}
    return await calendars.by_names(ctx, sorted(wanted))


def _sides(step: Step) -> list[Definition]:
    match step:
        case CreateStep(definition=after):
            return [after]
        case ChangeStep(job=job, definition=after):
            return [job.definition, after]
        case Prune(job=job):
            return [job.definition]
        case ConflictStep(force=force):
            return _sides(force)
        case _:
            return []


def _line_steps(
    ctx: Context, steps: Sequence[Step], known: Mapping[str, Calendar], rules: EgressRules | None
) -> Steps[list[PlanLine]]:
    found = []
    for step in steps:
        line = _line(ctx, step, known)
        found.append(line if rules is None else msgspec.structs.replace(line, warnings=_warnings(line.step, rules)))
        yield
    return found


def _warnings(step: Step, rules: EgressRules) -> tuple[str, ...]:
    """Returns the warnings about the definition that a step writes."""
    written = step.force if isinstance(step, ConflictStep) else step
    return tuple(rules.warnings(written.definition)) if isinstance(written, CreateStep | ChangeStep) else ()


def _line(ctx: Context, step: Step, known: Mapping[str, Calendar]) -> PlanLine:
    try:
        match step:
            case CreateStep(name, definition):
                return PlanLine(step, (), _fires(ctx, _new_job(ctx, name, definition), known, checked=True))
            case ConflictStep(force=ChangeStep() as change):
                return PlanLine(step, *_both(ctx, change, known))
            case ChangeStep():
                return PlanLine(step, *_both(ctx, step, known))
            case _:
                return PlanLine(step)
    except Invalid as error:
        return PlanLine(RefusedStep(step.name, str(error)))


def _both(
    ctx: Context, step: ChangeStep, known: Mapping[str, Calendar]
) -> tuple[tuple[datetime, ...], tuple[datetime, ...]]:
    """Returns the next fires before and after a change, where it changes the trigger or the policies."""
    after = msgspec.structs.replace(step.job, definition=step.definition)
    coming = _fires(ctx, after, known, checked=True)
    if not any(field.path.startswith(("trigger", "policies")) for field in step.fields):
        return (), ()
    return _fires(ctx, step.job, known), coming


def _fires(ctx: Context, job: Job, known: Mapping[str, Calendar], *, checked: bool = False) -> tuple[datetime, ...]:
    schedule, now = job.schedule(known), ctx.now(job.shard)
    if checked and job.recurring:
        check(schedule, now)
    coming = preview_of(schedule, now, many=MAX_LISTED * 2) if job.recurring else None
    verdicts = () if coming is None else coming.verdicts
    return tuple(islice((one.due_at for one in verdicts if isinstance(one, FireVerdict)), MAX_LISTED))


def _new_job(ctx: Context, name: str, definition: Definition) -> Job:
    shard = ctx.tenant.shard(name)
    return new_job(new_id(shard, ctx.now(shard)), ctx.tenant.id, name, definition)
