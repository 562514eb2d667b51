"""When an instance that a person asked for may run, of a job whose fires do not run beside each other."""

from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.schedule.overlap import Way, decide
from horae.store import cursors, instances, jobs
from horae.store.tx import Tx


def runs_alone(job: Job) -> bool:
    """Whether none of its instances runs beside another; a type's tasks are kept apart by their keys."""
    return job.exclusive and not job.spread


async def take_turn(tx: Tx, job: Job) -> State:
    """The state in which it begins. What lives of the job stays as it is until the end of the transaction.

    1. Nothing of the job lives: it runs at once.
    2. The policy is to replace: what lives is ended for it.
    3. Otherwise it waits for its turn. It is never skipped, because someone asked for it.
    """
    if not runs_alone(job):
        return State.INIT
    if not await cursors.seize(tx, job):
        await jobs.lock(tx, job)
    living = await instances.living(tx, job.shard, job.id)
    running = sum(state == State.RUNNING for state in living.values())
    way = decide(job.definition.policies.overlap, running, len(living) - running)
    if way == Way.REPLACE:
        await instances.displace(tx, job.shard, living)
    return State.BLOCKED if way in {Way.WAIT, Way.SKIP} else State.INIT
