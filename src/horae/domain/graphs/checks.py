"""Checks a declared graph as a whole, before anything is written."""

from collections.abc import Sequence

from horae.domain.errors import Invalid
from horae.domain.graphs.graphs import StepReads, check_deadline, ordered, reads_of, steps_before
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition, GraphPlan, StepRequest, check_limits
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules import Policies
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger, ManualTrigger


def check_graph(name: str, definition: Definition) -> None:
    """Refuse a declared graph that cannot run as it stands: a circle, an unknown name, a field at the wrong place."""
    plan = definition.graph_plan
    if plan is None:
        return
    if not isinstance(definition.trigger, CronTrigger | IntervalTrigger | ManualTrigger):
        raise Invalid("a graph fires by cron, at intervals or by hand")
    if definition.limit is not None or definition.quotas or definition.payload is not None:
        raise Invalid("limit, quotas and payload belong to the steps of a graph: its runs make no call")
    if definition.retry != RetryPolicy():
        raise Invalid("the retry policy belongs to the steps of a graph: a person runs a failed step again")
    check_deadline(plan.deadline)
    steps = sorted_plan(plan)
    for step in steps:
        _check_step(name, step)
    reads_of_steps(steps)


def sorted_plan(plan: GraphPlan) -> list[StepRequest]:
    """Return the declared steps, each behind those that it needs."""
    by_name = {step.plan.name: step for step in plan.steps}
    return [by_name[one.name] for one in ordered([step.plan for step in plan.steps])]


def reads_of_steps(steps: Sequence[StepRequest]) -> dict[str, StepReads]:
    """Return what each sorted step reads when it is released. Refuses a parameter that can have no value."""
    before = steps_before([step.plan for step in steps])
    return {
        step.plan.name: reads_of(step.plan, step.definition.payload, before.get(step.plan.name, ())) for step in steps
    }


def _check_step(name: str, step: StepRequest) -> None:
    if len(name) + len(step.plan.name) + 1 > LONGEST_NAME:
        raise Invalid(f"the names of graph and step have at most {LONGEST_NAME - 1} characters together")
    if not isinstance(step.definition.trigger, ManualTrigger):
        raise Invalid(f"step {step.plan.name!r} has a trigger; only the graph has one")
    if step.definition.labels or step.definition.policies != Policies():
        raise Invalid(f"step {step.plan.name!r} has labels or policies; they belong to the graph")
    if step.definition.is_graph:
        raise Invalid(f"step {step.plan.name!r} has steps of its own; a graph has one level of steps")
    try:
        check_limits(step.definition)
    except Invalid as error:
        raise Invalid(f"step {step.plan.name!r}: {error}") from error
