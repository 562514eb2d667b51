"""A plan carried out: each step is a verb of the service, in its own transaction, with its own audit row.

A change names the version it was planned from, so that what happened meanwhile is never overwritten.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from horae.domain.errors import HoraeError
from horae.domain.plans import CHANGES, Change, Create, Prune, Step
from horae.service import jobs, schedules
from horae.service.context import Context
from horae.service.plans.planning import Plan

AT_ONCE: Final = 8  # a cell has ten connections for us


class Done(msgspec.Struct, frozen=True):
    """What became of a step; `code` and `message` say why it was refused."""

    name: str
    step: str
    code: str | None = None
    message: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.code is None


async def apply(ctx: Context, plan: Plan, told: Callable[[Done], None] = lambda _done: None) -> list[Done]:
    """Do every step that changes something, several at once; a refusal of one says nothing about the others."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(step: Step) -> Done:
        async with room:
            done = await _done(ctx, step)
        told(done)
        return done

    return list(await asyncio.gather(*map(one, (step for step in plan.steps if isinstance(step, CHANGES)))))


async def _done(ctx: Context, step: Step) -> Done:
    made = partial(Done, step.name, type(step).__name__.lower())
    try:
        await _do(ctx, step)
    except HoraeError as refused:
        return made(refused.code, str(refused))
    return made()


async def _do(ctx: Context, step: Step) -> None:
    match step:
        case Create(name, definition, paused):
            await jobs.create(ctx, name, definition, paused=paused)
        case Change():
            await _change(ctx, step)
        case Prune(name):
            await jobs.remove(ctx, name)


async def _change(ctx: Context, step: Change) -> None:
    """Paused before it says something else, resumed after: what is not wanted does not fire in between."""
    if step.pause is True:
        await jobs.pause(ctx, step.name)
    if step.writes:
        await schedules.update(ctx, step.name, step.definition, version=step.job.version)
    if step.pause is False:
        await jobs.resume(ctx, step.name)
