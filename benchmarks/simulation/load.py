"""What is due when: streams of fires over jobs that lie evenly in all shards."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.placement import SHARDS
from horae.domain.schedules.timers import Timer
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget

ANCHOR: Final = datetime(2026, 1, 1, tzinfo=UTC)
STRIDE: Final = 2_654_435_761
"""A prime: neighbouring fires belong to shards that lie far apart."""


def plain_id(number: int) -> Any:
    """A number instead of an id: the engine only compares and hashes ids, and numbers are quicker to hash."""
    return cast("Any", number)


class Stream(NamedTuple):
    """Fires at a rate between two seconds of a run. `at_once`: all fires of a second are due at its beginning."""

    name: str
    rate: float
    begin_s: float
    end_s: float
    priority: Priority = Priority.NORMAL
    targets: int = 1
    tenants: int = 1
    at_once: bool = False


class DueFire(NamedTuple):
    """One fire of a stream."""

    timer: Timer
    job: Job


class Fires:
    """The fires of one stream, in the order of time."""

    def __init__(self, stream: Stream, number: int) -> None:
        self.stream = stream
        self.number = number
        self._jobs = [self._job(shard) for shard in range(SHARDS)]
        self._next = 0

    def until(self, second: float, start: float) -> Iterator[DueFire]:
        """The fires that are due before this second of the run and were not returned yet."""
        stream = self.stream
        first_id = (self.number + 1) << 64
        while True:
            due_s = stream.begin_s + self._next / stream.rate
            if due_s >= min(second, stream.end_s):
                return
            if stream.at_once:
                due_s = float(int(due_s))
            job = self._jobs[(self._next * STRIDE) % SHARDS]
            at = datetime.fromtimestamp(start + due_s, UTC)
            self._next += 1
            id_ = plain_id(first_id + self._next)
            yield DueFire(Timer(job.shard, id_, at, job.tenant_id, stream.priority, Lane.FIRST, job.id, 1, 0), job)

    def job(self, shard: int) -> Job:
        """The job of a shard."""
        return self._jobs[shard]

    def _job(self, shard: int) -> Job:
        stream = self.stream
        tenant = plain_id((self.number + 1) << 32 | shard % stream.tenants)
        target = HttpTarget(f"https://{stream.name}-{shard % stream.targets}.example/")
        definition = Definition(
            trigger=IntervalTrigger(every=86_400.0, anchor=ANCHOR), target=target, priority=stream.priority
        )
        return Job(
            shard=shard,
            id=plain_id((self.number + 1) << 48 | shard),
            tenant_id=tenant,
            name=f"{stream.name}-{shard}",
            version=1,
            status=Status.ACTIVE,
            definition=definition,
        )


def total(streams: Sequence[Stream]) -> int:
    """How many fires streams have."""
    return sum(int(one.rate * (one.end_s - one.begin_s)) for one in streams)
