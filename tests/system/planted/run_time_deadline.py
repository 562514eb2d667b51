"""A fire is born RUNNING with the job's run time as its deadline: what is lost on the way stays RUNNING for an hour."""

from typing import Any

from horae.store.schedules import cursors

RUN_TIME_MS = 3_600_000


def plant(put: Any) -> None:
    put(cursors, "slot_ms", lambda _target: RUN_TIME_MS)
