"""What a target or a worker was given, as a test looks at it."""

from datetime import datetime
from typing import Any

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt that arrived. `at` is the server's time then; `path` is None where a worker took it."""

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
        """In one line: the nominal time, the job, its key, and which attempt where it is not the first."""
        name = self.job if self.key in (None, "self") else f"{self.job}/{self.key}"
        again = f" attempt {self.attempt}" if self.attempt > 1 else ""
        return f"{self.fire_time:%Y-%m-%d %H:%M:%S} {name}{again}"

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it stands among those of one moment, so that a list of them is always the same."""
        return self.fire_time, self.job, self.key or "", self.attempt
