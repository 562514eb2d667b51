"""Models of queues and of the workers that poll them."""

from collections.abc import Collection
from datetime import datetime

from pydantic import ConfigDict, Field

from horae.api.models.base import AuditReason, RequestModel, ResponseModel
from horae.domain.workers.queue_workers import DrainStatus, Queue
from horae.service.workers.drains import DrainedWorker
from horae.service.workers.queues import WorkerStatus


class WorkerView(ResponseModel):
    """A worker at a queue. A worker that polls several queues is listed once for each."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "worker_id": "host-1/4711",
                    "queue": "coupon_job",
                    "polling": True,
                    "status": "ACTIVE",
                    "since": "2026-11-16T06:40:28Z",
                    "polled_at": "2026-11-16T08:12:09Z",
                    "claimed": 3,
                    "wanted": 7,
                    "client": "horae-client/1.0.0 python/3.11",
                    "address": "10.0.0.7",
                    "process": "api-1/12",
                }
            ]
        }
    )

    worker_id: str = Field(description="The id that the worker gives itself.")
    queue: str = Field(description="The queue that it polls.")
    polling: bool = Field(description="Whether it polled within the last 45 seconds, or waits in a poll now.")
    since: datetime = Field(description="The time since which it has polled without a longer pause.")
    polled_at: datetime = Field(description="The time of its last poll; up to ten seconds behind.")
    claimed: int = Field(description="The number of attempts of this queue that it holds now.")
    wanted: int = Field(description="The number of attempts that its last poll asked for: how many slots were free.")
    client: str | None = Field(None, description="Its `User-Agent`: the client library with its version.")
    address: str | None = Field(None, description="The address that it polled from, as the API process sees it.")
    process: str = Field(description="The API process that it polled last: host and process id.")
    status: DrainStatus = Field(
        description="`DRAINING`: it gets no new work and still holds attempts, of any queue. `DRAINED`: it holds none."
    )
    drained_at: datetime | None = Field(None, description="The time since which it gets no new work.")
    drained_by: str | None = Field(None, description="The principal that drained it.")
    drain_reason: str | None = Field(None, description="Why it was drained.")

    @classmethod
    def of(cls, one: WorkerStatus) -> "WorkerView":
        """Returns the view of a worker."""
        worker, drain = one.worker, one.worker.drain
        return cls(
            worker_id=worker.worker_id,
            queue=worker.queue,
            polling=one.is_polling,
            since=worker.since,
            polled_at=worker.polled_at,
            claimed=one.claimed,
            wanted=worker.wanted,
            client=worker.origin.client,
            address=worker.origin.address,
            process=worker.process,
            status=one.status,
            drained_at=drain and drain.drained_at,
            drained_by=drain and drain.drained_by,
            drain_reason=drain and drain.reason,
        )


class DrainWorker(RequestModel):
    """Why a worker is drained."""

    model_config = ConfigDict(json_schema_extra={"example": {"reason": "the host is replaced"}})
    reason: AuditReason


class DrainedWorkerView(ResponseModel):
    """A worker after it was drained or resumed, with its queues."""

    worker_id: str = Field(description="The id that the worker gives itself.")
    status: DrainStatus = Field(description="`DRAINING`: it gets no new work and still holds attempts.")
    claimed: int = Field(description="The number of attempts that it holds now, of all queues that it polls.")
    queues: list[str] = Field(description="The queues that it polled within the last hour.")
    cells_down: list[str] = Field(
        description="Cells that could not be reached. They do not know the change until the request is repeated."
    )

    @classmethod
    def of(cls, one: DrainedWorker, cells_down: Collection[str]) -> "DrainedWorkerView":
        """Returns the view of a worker."""
        return cls(
            worker_id=one.worker_id,
            status=one.queues[0].status,
            claimed=one.claimed,
            queues=[status.worker.queue for status in one.queues],
            cells_down=sorted(cells_down),
        )


class QueueView(ResponseModel):
    """A queue: what waits in it, and who polls it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "coupon_job",
                    "waiting": 42,
                    "more_waiting": False,
                    "oldest_waiting_since": "2026-11-16T06:40:28Z",
                    "claimed": 0,
                    "polling": 0,
                    "polled_at": None,
                    "unattended": True,
                    "jobs": ["coupon_job"],
                }
            ]
        }
    )

    name: str = Field(description="The name of the queue.")
    waiting: int = Field(description="The number of instances that a worker could claim now.")
    more_waiting: bool = Field(description="Whether more instances wait than were counted.")
    oldest_waiting_since: datetime | None = Field(
        None, description="The time at which the oldest waiting instance became due."
    )
    claimed: int = Field(description="The number of attempts that workers hold now.")
    polling: int = Field(description="The number of workers that poll now and are not drained.")
    polled_at: datetime | None = Field(None, description="The time of the last poll within the last hour.")
    unattended: bool = Field(
        description="Whether instances wait, no worker polls, and no worker holds an attempt of this queue."
    )
    jobs: list[str] = Field(description="The first ten jobs and types that use the queue, by name.")

    @classmethod
    def of(cls, queue: Queue) -> "QueueView":
        """Returns the view of a queue."""
        return cls(
            name=queue.name,
            waiting=queue.waiting,
            more_waiting=queue.is_more,
            oldest_waiting_since=queue.oldest,
            claimed=queue.claimed,
            polling=queue.polling,
            polled_at=queue.polled_at,
            unattended=queue.is_unattended,
            jobs=list(queue.jobs),
        )
