"""A finding is one reason in one sentence, with the facts that decided it. An explanation is a list of findings."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.ids import Prefix, public


class FindingCode(StrEnum):
    """What a finding says. Programs read the code, people read the sentence."""

    TENANT_HELD = "TENANT_HELD"
    CLOCK_UNTRUSTED = "CLOCK_UNTRUSTED"
    NOT_LEASED = "NOT_LEASED"
    LEASED = "LEASED"
    REMOVED = "REMOVED"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    NOT_STARTED = "NOT_STARTED"
    ENDED = "ENDED"
    NO_SCHEDULE = "NO_SCHEDULE"
    SKIPPED = "SKIPPED"
    OVERDUE = "OVERDUE"
    NEXT_FIRE = "NEXT_FIRE"
    DECIDED = "DECIDED"
    NOT_DUE = "NOT_DUE"
    OVERLAP = "OVERLAP"
    HELD = "HELD"
    NO_WORKER = "NO_WORKER"
    WAITS_FOR_WORKER = "WAITS_FOR_WORKER"
    WAITS_FOR_NODE = "WAITS_FOR_NODE"
    RUNNING = "RUNNING"
    ATTEMPTS_FAILED = "ATTEMPTS_FAILED"
    DEAD_LETTER = "DEAD_LETTER"
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"


class Finding(msgspec.Struct, frozen=True):
    """One reason: its code, a sentence, and the facts that the sentence was made from."""

    code: FindingCode
    text: str
    facts: dict[str, Any] = {}


class SubjectKind(StrEnum):
    """What an explanation is about."""

    JOB = "job"
    TASK = "task"
    INSTANCE = "instance"


class Explanation(msgspec.Struct, frozen=True):
    """Why something has not run, as its cell knew it `at` that time. The first finding is the most decisive one."""

    kind: SubjectKind
    subject: str
    at: datetime
    findings: list[Finding]


def utc(at: datetime) -> str:
    """A time in a sentence."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def instance_id(id_: UUID) -> str:
    """The public id of an instance."""
    return public(Prefix.INSTANCE, id_)
