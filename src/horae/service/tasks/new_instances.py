"""Ids, idempotency keys and common values of new instances of business keys."""

from datetime import datetime
from uuid import UUID

from horae.domain.ids import encode_id
from horae.domain.instances import idempotency_keys
from horae.domain.jobs.jobs import Job
from horae.domain.targets.targets import queue_of, slot_ms
from horae.runtime.randomness import id_maker, new_id
from horae.runtime.tracing import sampled_from
from horae.store.tasks.batches import Type
from horae.store.tasks.tasks import TaskPlace, TaskRow


def new_task_row(job: Job, place: TaskPlace, generation: int, now: datetime) -> TaskRow:
    """Returns a new task row: a new id in the shard of the business key, and the idempotency key of this generation."""
    return TaskRow(
        new_id(place.shard, now, sampled_from()),
        idempotency_keys.task_key(job.id, place.key, generation),
        *type_of(job)[2:],
    )


def type_of(job: Job) -> Type:
    """Returns the values that all instances of a job's business keys share."""
    target = job.definition.target
    return Type(job.tenant_id, job.id, job.version, job.definition.priority, slot_ms(target), queue_of(target))


class TaskIds:
    """Makes ids and idempotency keys for new instances of one job at one time."""

    def __init__(self, job: Job, now: datetime) -> None:
        self._job = encode_id(job.id)
        self.new_id = id_maker(now, sampled_from())

    def new_task(self, shard: int, key: str, generation: int) -> tuple[UUID, str]:
        """Returns a new id in the shard of the business key, and the idempotency key of this generation."""
        return self.new_id(shard), idempotency_keys.task_key(self._job, key, generation)
