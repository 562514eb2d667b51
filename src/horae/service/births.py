"""What new instances of keys are made of."""

from datetime import datetime
from uuid import UUID

from horae.domain import keys
from horae.domain.ids import letters
from horae.domain.jobs import Job
from horae.domain.targets import queue_of, slot_ms
from horae.runtime.chance import mint, minting
from horae.store.task_batches import Type
from horae.store.tasks import Birth, Place


def birth_of(job: Job, place: Place, generation: int, now: datetime) -> Birth:
    """A new id in the key's shard, under the idempotency key of this generation."""
    return Birth(mint(place.shard, now), keys.task(job.id, place.key, generation), *type_of(job)[2:])


def type_of(job: Job) -> Type:
    """What all instances of a job's keys have in common."""
    target = job.definition.target
    return Type(job.tenant_id, job.id, job.version, job.definition.priority, slot_ms(target), queue_of(target))


class Births:
    """Ids and idempotency keys of one job at one time."""

    def __init__(self, job: Job, now: datetime) -> None:
        self._job = letters(job.id)
        self.mint = minting(now)

    def of(self, shard: int, key: str, generation: int) -> tuple[UUID, str]:
        """A new id in the key's shard, and the idempotency key of this generation."""
        return self.mint(shard), keys.task(self._job, key, generation)
