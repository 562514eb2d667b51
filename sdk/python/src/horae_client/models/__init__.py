"""The answers of the API as typed values. Unknown fields of a newer server are ignored. Values are immutable."""

from horae_client.models.alerts import Alert, AlertChannel, AlertMessage, AlertRule, ChannelTest, Silence
from horae_client.models.base import ArchiveRead, Model, Page
from horae_client.models.instances import Attempt, Backfill, Counts, DeadLetter, Instance, Replayed, Retried, Triggered
from horae_client.models.jobs import Calendar, ComingFire, Forecast, Health, HealthCause, Hold, Job, Schedule, Version
from horae_client.models.sources import Repair, Round, Source, Taken
from horae_client.models.subjects import Changed, Coverage, Subject
from horae_client.models.tasks import Decision, LedgerEntry, LiveTask, Problem, Task, TaskAnswer, TaskAnswers
from horae_client.models.workers import Heard, HeardAll, QueueStatus, QueueWorker, Reported, ReportedAll, Work, Works

__all__ = [
    "Alert",
    "AlertChannel",
    "AlertMessage",
    "AlertRule",
    "ArchiveRead",
    "Attempt",
    "Backfill",
    "Calendar",
    "Changed",
    "ChannelTest",
    "ComingFire",
    "Counts",
    "Coverage",
    "DeadLetter",
    "Decision",
    "Forecast",
    "Health",
    "HealthCause",
    "Heard",
    "HeardAll",
    "Hold",
    "Instance",
    "Job",
    "LedgerEntry",
    "LiveTask",
    "Model",
    "Page",
    "Problem",
    "QueueStatus",
    "QueueWorker",
    "Repair",
    "Replayed",
    "Reported",
    "ReportedAll",
    "Retried",
    "Round",
    "Schedule",
    "Silence",
    "Source",
    "Subject",
    "Taken",
    "Task",
    "TaskAnswer",
    "TaskAnswers",
    "Triggered",
    "Version",
    "Work",
    "Works",
]
