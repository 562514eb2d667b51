"""What workers claim and report."""

from datetime import datetime
from typing import Any

import msgspec

from horae_client.models.base import Model


class Work(Model, frozen=True, kw_only=True, gc=False):
    """One attempt that a worker holds, until its deadline."""

    instance_id: str
    job: str
    attempt: int
    fire_time: datetime
    idempotency_key: str
    deadline: datetime
    token: str
    key: str | None = None
    payload: Any = None
    traceparent: str | None = None


class Works(Model, frozen=True, kw_only=True, gc=False):
    """The claimed attempts, and the server's time of the claim. `drained`: the worker gets no new work."""

    items: list[Work]
    now: datetime | None = None
    drained: bool = False


class Heard(Model, frozen=True, kw_only=True):
    """Whether an attempt still belongs to the worker, and until when."""

    instance_id: str
    attempt: int
    yours: bool
    deadline: datetime | None = None
    message: str = ""


class HeardAll(Model, frozen=True, kw_only=True):
    """One answer for each attempt, in order."""

    items: list[Heard]
    now: datetime | None = None


class Reported(Model, frozen=True, kw_only=True, gc=False):
    """The verdict about a report: `done`, `late`, `not_now`, or `invalid` with the reason in `message`."""

    instance_id: str
    attempt: int
    verdict: str
    status: int
    message: str = ""
    code: str = ""


class ReportedAll(Model, frozen=True, kw_only=True, gc=False):
    """One answer for each report, in order."""

    items: list[Reported]


class QueueWorker(Model, frozen=True, kw_only=True):
    """A worker at a queue.

    `claimed` is how many attempts it holds, `wanted` how many its last poll asked for. `polled_at` is up to ten seconds
    behind; `polling` is false 45 seconds after the last poll. `status` is `ACTIVE`, or `DRAINING` or `DRAINED` for a
    worker that gets no new work.
    """

    worker_id: str
    queue: str
    polling: bool
    since: datetime
    polled_at: datetime
    claimed: int
    wanted: int
    process: str
    client: str | None = None
    address: str | None = None
    status: str = "ACTIVE"
    drained_at: datetime | None = None
    drained_by: str | None = None
    drain_reason: str | None = None


class DrainedWorker(Model, frozen=True, kw_only=True):
    """A worker after it was drained or resumed: how many attempts it holds, and which queues it polls.

    `status` is `ACTIVE`, `DRAINING` or `DRAINED`. Repeat the request for the cells in `cells_down`.
    """

    worker_id: str
    status: str
    claimed: int
    queues: list[str]
    cells_down: list[str] = msgspec.field(default_factory=list)


class QueueStatus(Model, frozen=True, kw_only=True):
    """A queue: what waits in it, and who polls it.

    `unattended`: instances wait, no worker polls, and none holds an attempt. `more_waiting`: more wait than were
    counted. `jobs` has the first ten jobs and types that use the queue.
    """

    name: str
    waiting: int
    claimed: int
    polling: int
    unattended: bool
    more_waiting: bool = False
    oldest_waiting_since: datetime | None = None
    polled_at: datetime | None = None
    jobs: list[str] = msgspec.field(default_factory=list)
