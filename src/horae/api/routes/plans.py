"""Routes of schedules as code: plan the jobs of a source, and apply the plan."""

from typing import Annotated, Final

from horae.api.models.declared_jobs import declaration_steps
from horae.api.models.plans import AppliedPlanView, ApplyRequest, PlanRequest, PlanView
from horae.api.routing import GuardedRoute, may, router
from horae.runtime.heavy import run_in_slices
from horae.service import plans
from horae.service.context import Context
from horae.service.plans import SourcePlan

MAX_PLAN_BYTES: Final = 2 * 1024 * 1024
"""A source of some thousand jobs. It is larger than other bodies because a plan needs all jobs of a source."""


class PlanRoute(GuardedRoute):
    """A route that reads a whole source of schedules."""

    max_body_bytes = MAX_PLAN_BYTES


routes = router("plans", route_class=PlanRoute)


@routes.post("/plans")
async def make_plan(ctx: Annotated[Context, may("plans.make")], asked: PlanRequest) -> PlanView:
    """Compare the jobs that a source declares with the stored jobs. Nothing is saved.

    Jobs that other owners applied are refused; jobs that were changed elsewhere are conflicts.
    """
    return PlanView.of(await _plan(ctx, asked))


@routes.post("/plans/apply")
async def apply_plan(ctx: Annotated[Context, may("plans.apply")], asked: ApplyRequest) -> AppliedPlanView:
    """Change the jobs to what a source declares, except conflicts and refused steps.

    The plan is made anew, so a repeated request does what is left to do and needs no Idempotency-Key. Each changed job
    has its own audit entry.
    """
    plan = await _plan(ctx, asked)
    part, after = plan.part(asked.after, asked.limit)
    return AppliedPlanView.of(plan, part, await plans.apply(ctx, part), after)


async def _plan(ctx: Context, asked: PlanRequest) -> SourcePlan:
    if asked.spread is not None:
        return await plans.plan_spread(ctx, {name: one.to_domain() for name, one in asked.spread.items()})
    owner, jobs = asked.owner or "", asked.jobs or {}
    now = ctx.now(ctx.tenant.shard(owner))
    declared = await run_in_slices(declaration_steps(jobs, ctx.tenant, now))
    return await plans.plan(ctx, owner, declared, prune=asked.prune, force=asked.force)
