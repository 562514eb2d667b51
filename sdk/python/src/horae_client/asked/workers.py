"""Requests of the pull protocol. Each is safe to say twice: what was written already is answered `late`."""

from collections.abc import Sequence
from typing import Any

from horae_client.models import HeardAll, ReportedAll, Works
from horae_client.wire import Request, path


def poll(queue: str, worker_id: str, limit: int, wait: float) -> Request[Works]:
    """Claim what is due. After a lost answer a new poll is a new claim, so it is not repeated as if nothing was."""
    body = {"queue": queue, "worker_id": worker_id, "limit": limit, "wait": wait}
    return Request("POST", path("workers", "poll"), Works, body=body, again=False)


def heartbeat(items: Sequence[Any]) -> Request[HeardAll]:
    """Move deadlines away."""
    return Request("POST", path("workers", "heartbeat"), HeardAll, body={"items": items})


def finish(items: Sequence[Any]) -> Request[ReportedAll]:
    """Say that attempts are done."""
    return Request("POST", path("workers", "finish"), ReportedAll, body={"items": items})


def fail(items: Sequence[Any]) -> Request[ReportedAll]:
    """Say that attempts failed."""
    return Request("POST", path("workers", "fail"), ReportedAll, body={"items": items})
