"""Workers at queues: which worker polls which queue, and what the queues of a tenant have."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

POLLING_WINDOW: Final = timedelta(seconds=45)
"""A worker polls now if its last poll is younger. A poll that waits is recorded again every ten seconds."""
LONGEST_ORIGIN: Final = 200
"""Characters that are kept of a worker's client and address."""


class PollOrigin(NamedTuple):
    """Where the polls of a worker come from: its client, as its `User-Agent` says, and its address."""

    client: str | None = None
    address: str | None = None


class WorkerDrain(NamedTuple):
    """Since when a worker gets no new work, who decided so, and why."""

    drained_at: datetime
    drained_by: str
    reason: str


class DrainStatus(StrEnum):
    """Whether a worker gets new work."""

    ACTIVE = "ACTIVE"
    DRAINING = "DRAINING"  # it gets no new work, and still holds attempts
    DRAINED = "DRAINED"  # it gets no new work, and holds nothing


class QueueWorker(NamedTuple):
    """A worker that polls a queue.

    - `since`: the first poll after which there was no pause of `POLLING_WINDOW`.
    - `polled_at`: the last time at which it polled or waited.
    - `wanted`: how many attempts its last poll asked for at most.
    - `process`: the API process that it polled last.
    - `drain`: given while the worker is drained.
    """

    tenant_id: UUID
    queue: str
    worker_id: str
    since: datetime
    polled_at: datetime
    wanted: int
    origin: PollOrigin
    process: str
    drain: WorkerDrain | None = None

    def is_polling(self, now: datetime) -> bool:
        """Whether the worker polls now."""
        return now - self.polled_at < POLLING_WINDOW


class Queue(NamedTuple):
    """One queue of a tenant, in one cell or in all of them.

    - `waiting`: instances that a worker could claim now. `is_more`: there are more, which were not counted.
    - `oldest`: since when the oldest of them has been due.
    - `claimed`: attempts that workers hold.
    - `polling`: workers that poll now and are not drained. `polled_at`: the last poll, of the last hour.
    - `jobs`: the first jobs and types that use the queue, by name.
    """

    name: str
    waiting: int = 0
    is_more: bool = False
    oldest: datetime | None = None
    claimed: int = 0
    polling: int = 0
    polled_at: datetime | None = None
    jobs: tuple[str, ...] = ()

    @property
    def is_unattended(self) -> bool:
        """Whether something waits, no worker polls, and no worker is busy with an attempt of this queue."""
        return self.waiting > 0 and not self.polling and not self.claimed


class UnattendedQueue(NamedTuple):
    """A queue in which work waits that nobody takes, and since when the oldest instance has been due."""

    tenant_id: UUID
    name: str
    oldest: datetime


def latest_of(found: Iterable[QueueWorker]) -> list[QueueWorker]:
    """Merge the rows of several cells: of each worker at each queue the latest, by queue and worker id.

    A cell that was down when a worker was drained does not know it: a drain that any cell knows counts.
    """
    latest: dict[tuple[str, str], QueueWorker] = {}
    drains: dict[str, WorkerDrain] = {}
    for one in found:
        if one.drain is not None:
            drains[one.worker_id] = one.drain
        known = latest.get((one.queue, one.worker_id))
        if known is None or known.polled_at < one.polled_at:
            latest[one.queue, one.worker_id] = one
    places = sorted(latest, key=lambda place: (place[0].encode(), place[1].encode()))
    return [latest[place]._replace(drain=drains.get(place[1])) for place in places]


def merge_queues(name: str, parts: Sequence[Queue], jobs_listed: int) -> Queue:
    """Merge what several cells know of a queue. Every cell knows all workers, so the most is the number of them."""
    return Queue(
        name,
        waiting=sum(part.waiting for part in parts),
        is_more=any(part.is_more for part in parts),
        oldest=min((part.oldest for part in parts if part.oldest is not None), default=None),
        claimed=sum(part.claimed for part in parts),
        polling=max((part.polling for part in parts), default=0),
        polled_at=max((part.polled_at for part in parts if part.polled_at is not None), default=None),
        jobs=tuple(sorted({job for part in parts for job in part.jobs}, key=str.encode)[:jobs_listed]),
    )
