"""Builders of graphs for tests: steps that call a catcher, and what became of them."""

from horae.domain.graphs.graphs import NeedsRule, StepPlan
from horae.domain.instances.outcomes import DeclinedCall, Success
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.workers.workers import FailureReport, Finish
from horae.service.graphs import graphs, runs
from horae.service.graphs.graphs import GraphRequest, StepRequest
from horae.service.instances import instances
from horae.service.workers import claims, workers

ONE_TRY = RetryPolicy(max_failures=1)


def step(url, name, *needs, rule=NeedsRule.ALL_SUCCESS, each=None, concurrency=None, tolerated_failures=0.0, **facts):
    """A step that calls `url/name` once, or once for each element of a list."""
    facts = {"target": HttpTarget(f"{url}/{name}"), "retry": ONE_TRY, "trigger": ManualTrigger()} | facts
    return StepRequest(StepPlan(name, needs, rule, each, concurrency, tolerated_failures), Definition(**facts))


async def a_graph(ctx, steps, name="graph", trigger=None, **facts):
    definition = Definition(trigger=trigger or ManualTrigger(), target=QueueTarget("any"))
    return await graphs.create(ctx, name, GraphRequest(definition, steps, **facts))


async def begin(ctx, name="graph", key="k", payload=None):
    """Trigger a graph by hand; returns the id of the run."""
    return (await instances.trigger(ctx, name, key, payload=payload, even_if_down=True)).instance_id


async def states(ctx, run_id):
    """The state of the run, and of each step."""
    found = await runs.find(ctx, run_id)
    return found.run.state, {row.name: row.state for row in found.steps}


def work_step(name, *needs, **facts):
    """A step that a worker of the queue runs."""
    return step("http://127.0.0.1:9", name, *needs, target=a_queue(), **facts)


async def work_off(ctx, drain, handle, most=1000):
    """Let nodes and workers take turns until nothing is left; returns (step, payload, key) of what was claimed.

    `handle` gets the name of a step and its payload. It returns what the step returns, or an outcome.
    """
    done = []
    while True:
        await drain()
        claimed = await claims.claim(ctx, "work", "w", most)
        if not claimed:
            return done
        finishes = []
        for one in claimed:
            name = one.job.split("/")[1]
            done.append((name, one.payload, one.idempotency_key))
            found = handle(name, one.payload)
            failed = isinstance(found, FailureReport | DeclinedCall)
            report = found if failed else Success()
            finishes.append(Finish(one.instance_id, one.attempt, one.token, report, result=None if failed else found))
        await workers.finish(ctx, finishes)


def a_queue(name="work"):
    """A target whose instances wait until a test claims them."""
    return QueueTarget(name)
