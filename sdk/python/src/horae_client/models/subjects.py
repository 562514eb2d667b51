"""Subjects of rolling sets."""

from datetime import datetime

from horae_client.models.base import Model


class Changed(Model, frozen=True, kw_only=True):
    """How many keys were named, and how many of them changed something."""

    named: int
    changed: int


class Subject(Model, frozen=True, kw_only=True):
    """A member of a rolling job's set, and its last refresh."""

    key: str
    status: int = 0
    """0: never run, 1: running, 2: the last refresh succeeded, 3: it failed."""
    added_at: datetime
    updated_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_success_at: datetime | None = None
    batch_no: str | None = None
    remark: str | None = None
    instance_id: str | None = None


class Coverage(Model, frozen=True, kw_only=True):
    """How many subjects are fresh, whether that is enough, and when it will be at the pace of the last minute."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    share: float
    met: bool
    estimate_at: datetime | None = None
    ages: tuple[int, ...] = ()
    """Counts by last success: within a quarter, half, three quarters, all of the window, while fresh, before, never."""
