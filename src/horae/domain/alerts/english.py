"""The words of alerts in English."""

from typing import Final

from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.messages import AlertStatus
from horae.domain.alerts.words import AlertWords

NAMES: Final = {
    AlertKind.DEAD_LETTER: "dead letter",
    AlertKind.FAILURES_IN_A_ROW: "failed several times in a row",
    AlertKind.LATE: "late",
    AlertKind.MISSED: "missed fire",
    AlertKind.NO_SUCCESS: "no success for too long",
    AlertKind.QUEUE_UNPOLLED: "no worker polls the queue",
    AlertKind.SOURCE_PENDING_DEAD: "pending in the source, dead in Horae",
    AlertKind.BREAKER_OPEN: "calls to a target are stopped",
    AlertKind.SOURCE_DRIFT: "source and Horae differ",
    AlertKind.ROLLING_COVERAGE: "rolling job does not reach all its subjects",
    AlertKind.INTAKE_STUCK: "intake makes no progress",
    AlertKind.TRIGGER_DELAY_P95: "fires start late",
    AlertKind.RUN_SUCCESS_RATE_10M: "many runs fail",
    AlertKind.RETRY_BACKLOG: "retries pile up",
    AlertKind.DLQ_GROWTH_RATE: "dead letters grow fast",
    AlertKind.NODE_STUCK: "a node makes no progress",
    AlertKind.CELL_DOWN: "a database cell cannot be reached",
    AlertKind.CLOCK_UNTRUSTED: "a clock cannot be trusted",
    AlertKind.PARTITION_MISSING: "a table partition is missing",
    AlertKind.ARCHIVE_BEHIND: "the archive is behind",
    AlertKind.ERROR_BUDGET_BURNING: "the error budget burns",
}
MEANINGS: Final = {
    AlertKind.DEAD_LETTER: (
        "Horae gave up after the last attempt. "
        "The work was not done, and nobody tries it again until a person replays it."
    ),
    AlertKind.FAILURES_IN_A_ROW: (
        "Several runs of this job failed one after another. The next ones will likely fail too."
    ),
    AlertKind.LATE: "The time of this job has passed, and no first attempt was made yet.",
    AlertKind.MISSED: (
        "A fire was skipped for a cause on our side. The work of this fire was not done and is not made up for."
    ),
    AlertKind.NO_SUCCESS: "This job has not succeeded for longer than its rule allows.",
    AlertKind.QUEUE_UNPOLLED: (
        "Work waits in this queue, and no worker asks for it. Nothing in it runs until a worker is back."
    ),
    AlertKind.SOURCE_PENDING_DEAD: (
        "Your system still waits for this task, but Horae has given it up. Replay it or close it there."
    ),
    AlertKind.BREAKER_OPEN: (
        "The target failed many calls in a row, or answers none. Horae holds the calls back and tests the target from "
        "time to time. They continue by themselves when it answers again."
    ),
    AlertKind.SOURCE_DRIFT: (
        "The tasks of your system and the tasks in Horae are not the same. Some work may be missing or too much."
    ),
    AlertKind.ROLLING_COVERAGE: "Some subjects of this job were not visited within the time that it promises.",
    AlertKind.INTAKE_STUCK: (
        "Messages with schedule changes wait and are not taken. New and changed tasks do not arrive."
    ),
    AlertKind.TRIGGER_DELAY_P95: (
        "At least 1 of 20 calls starts later than the bound. Nodes or the database may be overloaded."
    ),
    AlertKind.RUN_SUCCESS_RATE_10M: (
        "Fewer runs of the last 10 minutes succeeded than the bound demands. Look at the failing targets first."
    ),
    AlertKind.RETRY_BACKLOG: "Many failed attempts wait for their retry. A target is likely down or slow.",
    AlertKind.DLQ_GROWTH_RATE: "Dead letters come faster than the bound. Many tasks are given up right now.",
    AlertKind.NODE_STUCK: (
        "A node has stopped renewing its lease. Its fires are late until another node takes them over."
    ),
    AlertKind.CELL_DOWN: "The database of a cell does not answer. Jobs of its shards neither fire nor change.",
    AlertKind.CLOCK_UNTRUSTED: (
        "The clock of a database jumped ahead. Its cell fires nothing until a person confirms the clock."
    ),
    AlertKind.PARTITION_MISSING: (
        "The table for a coming day does not exist yet. Without it, writes fail when that day begins."
    ),
    AlertKind.ARCHIVE_BEHIND: (
        "Old days wait for the archive longer than allowed. They stay in the database and fill its disk."
    ),
    AlertKind.ERROR_BUDGET_BURNING: (
        "Too many fires get no verdict in time. At this rate the promised service level is missed."
    ),
}

WORDS: Final = AlertWords(
    names=NAMES,
    meanings=MEANINGS,
    severities={
        AlertSeverity.CRITICAL: "CRITICAL",
        AlertSeverity.WARNING: "WARNING",
        AlertSeverity.INFO: "INFO",
    },
    statuses={
        AlertStatus.FIRING: "FIRING",
        AlertStatus.RESOLVED: "RESOLVED",
        AlertStatus.TEST: "TEST",
    },
    resolved_meaning="The condition of this alert is over. Check whether work that was not done must be made up for.",
    test_meaning="A person sent this message to test the channel. Nothing is wrong, and nobody has to act.",
    colon=": ",
    times="{count} times",
    status="Status",
    job="Job",
    tenant="Tenant",
    owner="Owner",
    label="Label",
    reason="Reason",
    meaning="What it means",
    opened_at="Since",
    resolved_at="Until",
    link="Open in Horae",
    runbook="Runbook",
    id="Message id",
)
