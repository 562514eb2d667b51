"""Applies a plan: each step calls service operations, which have their own transactions and audit rows.

An update names the version that the plan was made from, so it never overwrites a change that was made since.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from horae.domain.errors import HoraeError
from horae.domain.plans.edges import new_after
from horae.domain.plans.plans import CHANGES, ChangeStep, CreateStep, Prune, Step, word_of
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.plans.planning import SourcePlan
from horae.service.schedules import schedules

AT_ONCE: Final = 8
"""Steps that run at the same time. A cell has ten connections for this process."""


class AppliedStep(msgspec.Struct, frozen=True):
    """The result of a step. `code` and `message` say why it was refused."""

    name: str
    step: str
    code: str | None = None
    message: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the step was applied."""
        return self.code is None


async def apply(
    ctx: Context, plan: SourcePlan, on_step: Callable[[AppliedStep], None] = lambda _done: None
) -> list[AppliedStep]:
    """Apply every step that changes something, several at the same time. A refused step does not stop the others.

    A step waits for that of the job that its own job starts after. A plan has no circle of these.
    """
    room = asyncio.Semaphore(AT_ONCE)
    changes = [step for step in plan.steps if isinstance(step, CHANGES)]
    ended = {step.name: asyncio.Event() for step in changes}

    async def one(step: Step) -> AppliedStep:
        after = new_after(step)
        if after is not None and after.job in ended:
            await ended[after.job].wait()
        try:
            async with room:
                done = await _apply_step(ctx, step)
        finally:
            ended[step.name].set()
        on_step(done)
        return done

    return list(await asyncio.gather(*map(one, changes)))


async def _apply_step(ctx: Context, step: Step) -> AppliedStep:
    made = partial(AppliedStep, step.name, word_of(step))
    try:
        await _do(ctx, step)
    except HoraeError as refused:
        return made(refused.code, str(refused))
    return made()


async def _do(ctx: Context, step: Step) -> None:
    match step:
        case CreateStep(name, definition, paused):
            await jobs.create(ctx, name, definition, paused=paused)
        case ChangeStep():
            await _change(ctx, step)
        case Prune(name):
            await jobs.remove(ctx, name)


async def _change(ctx: Context, step: ChangeStep) -> None:
    """Pause before the update and resume after it, so that no unwanted fire happens in between."""
    if step.pause is True:
        await jobs.pause(ctx, step.name)
    if step.writes:
        await schedules.update(ctx, step.name, step.definition, version=step.job.version)
    if step.pause is False:
        await jobs.resume(ctx, step.name)
