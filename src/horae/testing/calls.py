"""What a target or a worker received, as a test sees it."""

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
