"""What a new instance of a key is made of."""

from datetime import datetime

from horae.domain import keys
from horae.domain.jobs import Job
from horae.domain.targets import queue_of, slot_ms
from horae.runtime.chance import mint
from horae.store.tasks import Birth, Place


def birth_of(job: Job, place: Place, generation: int, now: datetime) -> Birth:
    """A new id in the key's shard, under the idempotency key of this generation."""
    target = job.definition.target
    return Birth(
        id=mint(place.shard, now),
        idem_key=keys.task(job.id, place.key, generation),
        job_version=job.version,
        priority=job.definition.priority,
        slot_ms=slot_ms(target),
        queue=queue_of(target),
    )
