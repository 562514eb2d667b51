"""What a target or a worker received, as a test sees it, and what the test lets a target answer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec


class ReceivedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt that arrived. `at` is the server's time then; `path` is None if a worker claimed it."""

    job: str
    fire_time: datetime
    attempt: int
    idempotency_key: str
    instance: str
    at: datetime
    key: str | None = None
    payload: Any = None
    path: str | None = None
    method: str | None = None
    headers: dict[str, str] = {}
    status: int | None = None

    def __str__(self) -> str:
        """One line: the fire time, the job, its key, and the attempt if it is not the first."""
        name = self.job if self.key in (None, "self") else f"{self.job}/{self.key}"
        again = f" attempt {self.attempt}" if self.attempt > 1 else ""
        return f"{self.fire_time:%Y-%m-%d %H:%M:%S} {name}{again}"

    @property
    def place(self) -> tuple[Any, ...]:
        """The sort key among calls of one moment, so that their order is always the same."""
        return self.fire_time, self.job, self.key or "", self.attempt


def status_for(answers: Mapping[str, Any], call: ReceivedCall) -> int:
    """The status that a target answers. `answers` maps a path or a job to its answers; the default is 200.

    A list is used up one by one; a number or a function applies to every call.

    >>> from datetime import UTC, datetime
    >>> from horae_client.testing.calls import ReceivedCall, status_for
    >>> nine = datetime(2030, 1, 1, 9, tzinfo=UTC)
    >>> call = ReceivedCall(job="report", fire_time=nine, attempt=1, idempotency_key="k", instance="ins_1", at=nine)
    >>> answers = {"report": [503]}
    >>> status_for(answers, call), status_for(answers, call)
    (503, 200)
    """
    waiting = answers.get(call.path or "", answers.get(call.job))
    if isinstance(waiting, list):
        return int(waiting.pop(0)) if waiting else 200
    answered = waiting(call) if callable(waiting) else waiting
    return 200 if answered is None else int(answered)
