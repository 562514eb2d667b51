"""What new instances of keys are made of."""

from datetime import datetime

from horae.domain import keys
from horae.domain.ids import letters
from horae.domain.jobs import Job
from horae.domain.targets import queue_of, slot_ms
from horae.runtime.chance import millis, mint_at
from horae.store.tasks import Birth, Place


class Births:
    """Of one job, at one time: what all of them share is found out once."""

    def __init__(self, job: Job, now: datetime) -> None:
        target = job.definition.target
        self._job = letters(job.id)
        self._millis = millis(now)
        self._shared = (job.version, job.definition.priority, slot_ms(target), queue_of(target))

    def of(self, place: Place, generation: int) -> Birth:
        """A new id in the key's shard, under the idempotency key of this generation."""
        return Birth(mint_at(place.shard, self._millis), keys.task(self._job, place.key, generation), *self._shared)


def birth_of(job: Job, place: Place, generation: int, now: datetime) -> Birth:
    """One new instance of a key."""
    return Births(job, now).of(place, generation)
