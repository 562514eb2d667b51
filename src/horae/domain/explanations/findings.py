"""A finding is one cause: a code, the facts that decided, and the rows where they stand. It has no words.

`sentences.py` makes a sentence of a finding, in English or in Chinese.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec


class FindingCode(StrEnum):
    """What a finding says. Programs read the code, people read the sentence."""

    TENANT_HELD = "TENANT_HELD"
    CLOCK_UNTRUSTED = "CLOCK_UNTRUSTED"
    NOT_LEASED = "NOT_LEASED"
    LEASED = "LEASED"
    REMOVED = "REMOVED"
    PAUSED = "PAUSED"
    SHADOW = "SHADOW"
    COMPLETED = "COMPLETED"
    NOT_STARTED = "NOT_STARTED"
    ENDED = "ENDED"
    TASK_TYPE = "TASK_TYPE"
    ROLLING_SET = "ROLLING_SET"
    MANUAL_ONLY = "MANUAL_ONLY"
    OVERDUE = "OVERDUE"
    NEXT_FIRE = "NEXT_FIRE"
    BEFORE_CREATION = "BEFORE_CREATION"
    NOT_A_FIRE = "NOT_A_FIRE"
    EARLIER_VERSION = "EARLIER_VERSION"
    MOVED = "MOVED"
    SPREAD = "SPREAD"
    TO_COME = "TO_COME"
    TO_BE_SKIPPED = "TO_BE_SKIPPED"
    MISSING = "MISSING"
    NO_LONGER_KEPT = "NO_LONGER_KEPT"
    DECIDED = "DECIDED"
    REQUEST_IGNORED = "REQUEST_IGNORED"
    NOT_DUE = "NOT_DUE"
    RETRY_DUE = "RETRY_DUE"
    OVERLAP = "OVERLAP"
    HELD = "HELD"
    NO_WORKER = "NO_WORKER"
    WAITS_FOR_WORKER = "WAITS_FOR_WORKER"
    WAITS_FOR_NODE = "WAITS_FOR_NODE"
    RUNNING = "RUNNING"
    SKIPPED = "SKIPPED"
    ATTEMPTS_FAILED = "ATTEMPTS_FAILED"
    DEAD_LETTER = "DEAD_LETTER"
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    CREATED_LATE = "CREATED_LATE"
    WAS_HELD = "WAS_HELD"
    STARTED_LATE = "STARTED_LATE"
    CALLED_AGAIN = "CALLED_AGAIN"
    BACKFILLED = "BACKFILLED"
    RUN_AGAIN = "RUN_AGAIN"
    REPLAYED = "REPLAYED"
    SUBJECT_OCCUPIED = "SUBJECT_OCCUPIED"
    SUBJECT_REFRESHED = "SUBJECT_REFRESHED"
    SUBJECT_FAILED = "SUBJECT_FAILED"
    SUBJECT_NEVER_REFRESHED = "SUBJECT_NEVER_REFRESHED"
    SUBJECT_DUE = "SUBJECT_DUE"
    SUBJECT_WAITS = "SUBJECT_WAITS"


class RowKind(StrEnum):
    """What a deciding row is a row of."""

    TENANT = "tenant"
    CELL = "cell"
    NODE = "node"
    JOB = "job"
    VERSION = "version"
    CALENDAR = "calendar"
    INSTANCE = "instance"
    DEAD_LETTER = "dead_letter"
    TASK = "task"
    SUBJECT = "subject"
    HOLD = "hold"
    QUEUE = "queue"


class DecidingRow(msgspec.Struct, frozen=True):
    """A row that decided. `ref` is its public id or its name; a version is `JOB@NUMBER`, a task `JOB/KEY`."""

    kind: RowKind
    ref: str


class Finding(msgspec.Struct, frozen=True):
    """One cause: its code, the facts for its sentence, and the rows that decided."""

    code: FindingCode
    facts: dict[str, Any] = {}
    rows: tuple[DecidingRow, ...] = ()


class ExplainedKind(StrEnum):
    """What an explanation is about."""

    JOB = "job"
    FIRE = "fire"
    TASK = "task"
    SUBJECT = "subject"
    INSTANCE = "instance"


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why something has or has not run, as its cell knew it `at` that time. The first finding is the most decisive one.

    `fire_time` is set where one fire of a job is explained.
    """

    kind: ExplainedKind
    subject: str
    at: datetime
    findings: list[Finding]
    fire_time: datetime | None = None
