"""Sources: their rounds and repairs."""

from datetime import datetime
from typing import Any

from horae_client.models.base import Model


class Round(Model, frozen=True, kw_only=True):
    """One pass over all keys of a source. `drift` is how many tasks differed from your list."""

    number: int
    dry: bool
    status: str
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    drift: int
    counts: dict[str, int]


class Source(Model, frozen=True, kw_only=True):
    """The source of a type, and how its last round went."""

    id: str
    type: str
    revision: int
    spec: dict[str, Any]
    changed_at: datetime
    changed_by: str
    running: bool
    round: int = 0
    after: str | None = None
    next_at: datetime | None = None
    paused_at: datetime | None = None
    failures: int
    drift: int
    last: Round | None = None


class Repair(Model, frozen=True, kw_only=True):
    """A difference and what was done about it; `decision` is None for a dry round."""

    id: str
    at: datetime
    round: int
    key: str
    found: str
    decision: str | None = None
    ours: datetime | None = None
    theirs: datetime | None = None


class Taken(Model, frozen=True, kw_only=True):
    """The progress of a pushed round, and its counts so far."""

    number: int
    reached: str | None = None
    ended: bool
    drift: int
    counts: dict[str, int]
