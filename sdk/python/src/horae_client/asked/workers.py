"""Requests of workers, and requests about workers and queues.

Each is safe to repeat: the answer for a report that was already written is `late`.
"""

from collections.abc import Sequence
from typing import Any

from horae_client.models import DrainedWorker, HeardAll, Page, QueueStatus, QueueWorker, ReportedAll, Works
from horae_client.wire import Request, path, said


def poll(queue: str, worker_id: str, limit: int, wait: float) -> Request[Works]:
    """Claim what is due. It is not retried after a lost answer, because a new poll is a new claim."""
    body = {"queue": queue, "worker_id": worker_id, "limit": limit, "wait": wait}
    return Request("POST", path("workers", "poll"), Works, body=body, again=False)


def heartbeat(items: Sequence[Any]) -> Request[HeardAll]:
    """Extend deadlines."""
    return Request("POST", path("workers", "heartbeat"), HeardAll, body={"items": items})


def finish(items: Sequence[Any]) -> Request[ReportedAll]:
    """Report that attempts are done."""
    return Request("POST", path("workers", "finish"), ReportedAll, body={"items": items})


def logs(items: Sequence[Any]) -> Request[ReportedAll]:
    """Append log lines of running attempts. A batch with the number of its first line is stored once."""
    return Request("POST", path("workers", "logs"), ReportedAll, body={"items": items})


def fail(items: Sequence[Any]) -> Request[ReportedAll]:
    """Report that attempts failed."""
    return Request("POST", path("workers", "fail"), ReportedAll, body={"items": items})


def workers(queue: str | None, polling: bool | None) -> Request[Page[QueueWorker]]:
    """Get a page of the workers that poll queues."""
    return Request("GET", path("workers"), Page[QueueWorker], query=said(queue=queue, polling=polling))


def drain(worker_id: str, reason: str) -> Request[DrainedWorker]:
    """Give a worker no new work. It is safe to repeat."""
    return Request("POST", path("workers", worker_id, "drain"), DrainedWorker, body={"reason": reason})


def resume(worker_id: str) -> Request[DrainedWorker]:
    """Give a drained worker work again."""
    return Request("POST", path("workers", worker_id, "resume"), DrainedWorker)


def queues(name: str | None) -> Request[Page[QueueStatus]]:
    """Get a page of the queues."""
    return Request("GET", path("queues"), Page[QueueStatus], query=said(name=name))
