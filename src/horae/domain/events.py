"""The names of what happened. The end of an instance is told by its history row, all else by an outbox row."""

from enum import StrEnum
from typing import Final

from horae.domain.lifecycle import State


class Event(StrEnum):
    """One name per thing that happened, the same in outbox, brokers, console and docs."""

    TENANT_CREATED = "TENANT_CREATED"
    TENANT_ALLOWED = "TENANT_ALLOWED"
    CALENDAR_PUT = "CALENDAR_PUT"
    JOB_CREATED = "JOB_CREATED"
    JOB_UPDATED = "JOB_UPDATED"
    JOB_PAUSED = "JOB_PAUSED"
    JOB_RESUMED = "JOB_RESUMED"
    JOB_COMPLETED = "JOB_COMPLETED"
    JOB_REMOVED = "JOB_REMOVED"
    TASK_CREATED = "TASK_CREATED"
    TASK_MOVED = "TASK_MOVED"
    TASK_REPLACED = "TASK_REPLACED"
    TASK_IGNORED = "TASK_IGNORED"
    TASK_CANCELLED = "TASK_CANCELLED"
    INSTANCE_TRIGGERED = "INSTANCE_TRIGGERED"
    INSTANCE_REPLAYED = "INSTANCE_REPLAYED"
    INSTANCE_FAILED = "INSTANCE_FAILED"
    INSTANCE_DONE = "INSTANCE_DONE"
    INSTANCE_DEAD = "INSTANCE_DEAD"
    INSTANCE_CANCELLED = "INSTANCE_CANCELLED"
    INSTANCE_SKIPPED = "INSTANCE_SKIPPED"
    DEAD_LETTER_DISCARDED = "DEAD_LETTER_DISCARDED"


OF_END: Final = {
    State.SUCCESS: Event.INSTANCE_DONE,
    State.DEAD: Event.INSTANCE_DEAD,
    State.CANCELLED: Event.INSTANCE_CANCELLED,
    State.SKIPPED: Event.INSTANCE_SKIPPED,
}
