"""What a seed is about: how many of whom, which jobs, how much harm."""

from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, Trigger, cron
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tasks.tasks import AfterSuccess
from horae.service.context import Context
from horae.service.jobs import jobs

if TYPE_CHECKING:
    from tests.simulation.world import World

RETRY = RetryPolicy(base=0.2, jitter_min=0.05, jitter_max=0.2, longest=2.0, max_failures=4)
OVERLAPS = (OnOverlap.FORBID, OnOverlap.REPLACE, OnOverlap.QUEUE_ONE)
HARM = (0.0, 1.0, 2.0, 4.0, 8.0)
"""By how much the rates of all faults are multiplied, one of these for each seed."""
CHAOS = (2.0, 5.0)
TYPES = (("PUBLISH", AfterSuccess.IGNORE), ("AUDIT", AfterSuccess.REOPEN))


class Plan(NamedTuple):
    """What was drawn."""

    nodes: int
    leased: bool
    harm: float
    chaos: float
    authors: int
    calls: int
    workers: int
    every: float
    cron_every: int
    overlap: OnOverlap | None
    type: int
    operated: bool


def draw(dice: Random) -> Plan:
    """By the seed."""
    return Plan(
        nodes=dice.choice((1, 2, 2, 2, 2, 3)),
        leased=dice.random() < 0.5,
        harm=dice.choice(HARM),
        chaos=dice.uniform(*CHAOS),
        authors=dice.choice((0, 0, 0, 1, 2)),
        calls=dice.randint(2, 4),
        workers=dice.choice((0, 0, 0, 0, 1)),
        every=dice.choice((1.0, 1.0, 1.5)),
        cron_every=dice.choice((2, 3)),
        overlap=dice.choice((None,) * 6 + (OnOverlap.ALLOW, *OVERLAPS)),
        type=dice.choice((0, 1)),
        operated=dice.random() < 0.2,
    )


def plan_of(seed: int) -> Plan:
    """What a seed is about, without running it."""
    return draw(Random(seed))


async def build(world: "World", ctx: Context) -> None:
    """Make the jobs; their schedules end with the time of faults, so that everything they owe can be counted."""
    plan, start = world.plan, world.now().replace(microsecond=0) + timedelta(seconds=1)
    end = start + timedelta(seconds=plan.chaos)
    until = Policies(end=end)
    await _make(world, ctx, "steady", IntervalTrigger(plan.every, start), until)
    if plan.overlap is not None:
        alone = Policies(end=end, overlap=plan.overlap)
        await _make(world, ctx, "clockwork", cron(f"*/{plan.cron_every} * * * * *"), alone)
    if plan.workers:
        trigger = IntervalTrigger(2.0, start + timedelta(microseconds=137))
        await _make(world, ctx, "pulled", trigger, until, queue=True)
    if plan.authors:
        name, after = TYPES[plan.type]
        await _make(world, ctx, name, KeyedTrigger(), Policies(), after=after)
        world.keys += [(name, key) for key in ("a", "b")]


async def _make(
    world: "World",
    ctx: Context,
    name: str,
    trigger: Trigger,
    policies: Policies,
    *,
    queue: bool = False,
    after: AfterSuccess = AfterSuccess.IGNORE,
) -> None:
    target = (
        QueueTarget(name, claim_seconds=4.0)
        if queue
        else HttpTarget(
            f"http://{name.lower()}.example/", connect_timeout=0.5, read_timeout=1.0, completion_seconds=4.0
        )
    )
    made = Definition(trigger=trigger, target=target, retry=RETRY, policies=policies, after_success=after)
    world.jobs[name] = await jobs.create(ctx, name, made)
