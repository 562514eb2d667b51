"""A plan: read what is there, compare, and foretell what the schedules would do. Nothing is written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.calendars import Calendar
from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.jobs import Definition, Job, Status, Wanted
from horae.domain.plans import (
    CHANGES,
    OWNER,
    Change,
    Conflict,
    Create,
    Declared,
    Prune,
    Refused,
    Standing,
    Step,
    applied_of,
    check_owner,
    decide,
)
from horae.domain.schedule import Fire, check
from horae.runtime.chance import mint
from horae.service import calendars, jobs
from horae.service.context import Context
from horae.service.schedules import foretell
from horae.service.sealing import shown
from horae.store import jobs as rows

PAGE: Final = 1000
SHOWN: Final = 3


class Line(msgspec.Struct, frozen=True):
    """One step, with the coming fires before and after it where it would move them."""

    step: Step
    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()


class Plan(msgspec.Struct, frozen=True):
    """Every step of one source, by name."""

    owner: str
    lines: list[Line]

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
        """How many wait for a person's decision."""
        return sum(isinstance(step, Conflict) for step in self.steps)

    @property
    def refused(self) -> int:
        """How many cannot be done as written."""
        return sum(isinstance(step, Refused) for step in self.steps)

    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        return dict(Counter(type(step).__name__.lower() for step in self.steps))


async def plan(
    ctx: Context, owner: str, declared: Sequence[Declared], *, prune: bool = False, force: bool = False
) -> Plan:
    """What applying a source would do now; other owners' jobs are never part of it."""
    check_owner(owner)
    standing = await _standing(ctx, owner, [one.name for one in declared])
    steps = decide(owner, declared, standing, prune=prune, force=force)
    known = await _calendars(ctx, steps)
    return Plan(owner, [_line(ctx, step, known) for step in steps])


async def _standing(ctx: Context, owner: str, names: Sequence[str]) -> dict[str, Standing]:
    """The jobs of these names, whoever's they are, and all of the owner's, each with its source's last word."""
    found = {job.name: job for job in await _owned(ctx, owner)}
    found |= {job.name: job for job in await _named(ctx, [name for name in names if name not in found])}
    found = {name: await shown(ctx, job) for name, job in found.items()}
    bases = await _bases(ctx, list(found.values()))
    return {name: Standing(job, bases.get(job.id)) for name, job in found.items()}


async def _owned(ctx: Context, owner: str) -> list[Job]:
    found: list[Job] = []
    wanted = Wanted(labels={OWNER: owner})
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
    return found


async def _bases(ctx: Context, found: Sequence[Job]) -> dict[UUID, Definition]:
    """What each job said in the version that its source last wrote; most are still at it."""
    bases = {job.id: job.definition for job in found if applied_of(job) == job.version}
    asked = [(job.shard, job.id, version) for job in found if (version := applied_of(job)) and job.id not in bases]
    by_cell = sorted(asked, key=lambda one: ctx.store.cell(one[0]).name)
    for _, group in groupby(by_cell, key=lambda one: ctx.store.cell(one[0]).name):
        wanted = list(group)
        async with ctx.store.statement(wanted[0][0]) as tx:
            old = await rows.definitions(tx, wanted)
        bases |= {id_: (await shown(ctx, job)).definition for (id_, _), job in old.items() if job is not None}
    return bases


async def _calendars(ctx: Context, steps: Sequence[Step]) -> Mapping[str, Calendar]:
    wanted = {rule.calendar for step in steps for one in _sides(step) for rule in one.policies.calendars}
    return await calendars.known(ctx, sorted(wanted))


def _sides(step: Step) -> list[Definition]:
    match step:
        case Create(definition=after):
            return [after]
        case Change(job=job, definition=after):
            return [job.definition, after]
        case Prune(job=job):
            return [job.definition]
        case Conflict(force=force):
            return _sides(force)
        case _:
            return []


def _line(ctx: Context, step: Step, known: Mapping[str, Calendar]) -> Line:
    try:
        match step:
            case Create(name, definition):
                return Line(step, (), _fires(ctx, _imagined(ctx, name, definition), known, checked=True))
            case Conflict(force=Change() as change):
                return Line(step, *_both(ctx, change, known))
            case Change():
                return Line(step, *_both(ctx, step, known))
            case _:
                return Line(step)
    except Invalid as error:
        return Line(Refused(step.name, str(error)))


def _both(
    ctx: Context, step: Change, known: Mapping[str, Calendar]
) -> tuple[tuple[datetime, ...], tuple[datetime, ...]]:
    """The coming fires before and after, where the trigger or its policies change."""
    after = msgspec.structs.replace(step.job, definition=step.definition)
    coming = _fires(ctx, after, known, checked=True)
    if not any(field.path.startswith(("trigger", "policies")) for field in step.fields):
        return (), ()
    return _fires(ctx, step.job, known), coming


def _fires(ctx: Context, job: Job, known: Mapping[str, Calendar], *, checked: bool = False) -> tuple[datetime, ...]:
    schedule, now = job.schedule(known), ctx.store.cell(job.shard).clock.now()
    if checked and job.recurring:
        check(schedule, now)
    coming = foretell(schedule, now, many=SHOWN * 2) if job.recurring else None
    verdicts = () if coming is None else coming.verdicts
    return tuple(islice((one.due_at for one in verdicts if isinstance(one, Fire)), SHOWN))


def _imagined(ctx: Context, name: str, definition: Definition) -> Job:
    shard = ctx.tenant.shard(name)
    id_ = mint(shard, ctx.store.cell(shard).clock.now())
    facts = {"version": 1, "status": Status.ACTIVE, "definition": definition}
    return Job(shard=shard, id=id_, tenant_id=ctx.tenant.id, name=name, **facts)  # type: ignore[arg-type]
