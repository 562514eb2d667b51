"""When an instance that a person requested may run, for a job whose fires must not overlap."""

from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Job
from horae.domain.schedules.overlap import Way, decide
from horae.store.instances import instances
from horae.store.jobs import jobs
from horae.store.schedules import cursors
from horae.store.tx import Tx


def runs_alone(job: Job) -> bool:
    """Whether instances of a job must not overlap. Tasks of a type are kept apart by their business keys."""
    return job.exclusive and not job.spread


async def take_turn(tx: Tx, job: Job) -> State:
    """Returns the state in which the new instance begins. Locks the job's live instances until the transaction ends.

    1. Without live instances of the job it runs at once.
    2. With the policy to replace, the live instances end and it runs at once.
    3. Otherwise it waits for its turn. It is never skipped, because a person requested it.
    """
    if not runs_alone(job):
        return State.INIT
    if not await cursors.seize(tx, job):
        await jobs.lock(tx, job)
    living = await instances.lock_live(tx, job.shard, job.id)
    running = sum(state == State.RUNNING for state in living.values())
    way = decide(job.definition.policies.overlap, running, len(living) - running)
    if way == Way.REPLACE:
        await instances.displace(tx, job.shard, living)
    return State.BLOCKED if way in {Way.WAIT, Way.SKIP} else State.INIT
