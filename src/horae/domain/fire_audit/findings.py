"""What an audit of fires can find."""

from collections import Counter
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import msgspec


class FireFault(StrEnum):
    """The kinds of findings. Each is a contradiction between the stored schedule and the rows."""

    MISSING = "MISSING"
    """A fire that should exist has no row."""
    DOUBLED = "DOUBLED"
    """A fire has more than one row, and neither a replay nor a backfill explains it."""
    NOT_A_FIRE = "NOT_A_FIRE"
    """A row has a time at which the schedule does not fire."""
    WRONG_VERSION = "WRONG_VERSION"
    """A row has another version than the one that was in force."""
    RAN_WHILE_PAUSED = "RAN_WHILE_PAUSED"
    """A fire ran although its job was paused."""
    RAN_THOUGH_CLOSED = "RAN_THOUGH_CLOSED"
    """A fire ran although a calendar, an override or a clock change excludes it."""
    WRONG_SKIP = "WRONG_SKIP"
    """A fire was skipped for a reason that does not hold, or for none."""
    WRONG_DUE = "WRONG_DUE"
    """A fire that was moved, or is spread, has another due time."""
    WRONG_COUNT = "WRONG_COUNT"
    """A range of skipped fires counts more or fewer fires than the schedule has in it."""
    LOST_BACKFILL = "LOST_BACKFILL"
    """A backfill has passed a fire that has neither succeeded nor a row of the backfill."""
    STANDS_STILL = "STANDS_STILL"
    """The cursor of an active job is behind, has no position, or is past the next fire."""
    ALTERED = "ALTERED"
    """The archived rows of the job differ from those in PostgreSQL, or a file with rows of it was changed."""
    UNREADABLE = "UNREADABLE"
    """The schedule cannot be computed here: a newer release wrote it, or its zone is not known."""


class FireFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding. `fires` counts the fires that it is about."""

    fault: FireFault
    tenant_id: UUID
    job_id: UUID
    job: str
    at: datetime
    said: str
    fires: int = 1
    instance_id: UUID | None = None


class FireCounts(NamedTuple):
    """What became of the expected fires: by state, and the skipped ones by reason.

    `missing` have no row and should have one. `undecided` are those that the cursor has not reached.
    """

    states: Counter[str]
    skipped: Counter[str]
    missing: int = 0
    undecided: int = 0

    @property
    def expected(self) -> int:
        """How many fires should exist."""
        return self.states.total() + self.missing + self.undecided


class JobVerdict(NamedTuple):
    """The result for one job."""

    counts: FireCounts
    findings: list[FireFinding]
