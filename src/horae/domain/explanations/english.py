"""The sentences of explanations in English."""

from typing import Final

from horae.domain.explanations.findings import ExplainedKind, FindingCode
from horae.domain.explanations.words import ExplanationWords, Sentence
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, SkipReason
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.tasks.tasks import Decision, IgnoreReason
from horae.domain.tenants.tenants import TenantStatus

NAMED: Final = "{instance} of the fire at {fire_time:time}"
"""How a sentence names an instance."""
SENTENCES: Final = {
    FindingCode.TENANT_HELD: Sentence("tenant {tenant} is {status:tenant}, so nothing of it fires"),
    FindingCode.CLOCK_UNTRUSTED: Sentence(
        "the clock of {cell} has jumped by {ahead_s:span}, so nothing fires there; `horae cell trust-clock {cell}` "
        "confirms it when it is right"
    ),
    FindingCode.NOT_LEASED: Sentence(
        "no node leases shard {shard} of {cell}, so nothing fires there; start `horae node`",
        {"node": "; node {node} leased it until {until:time} and is gone"},
    ),
    FindingCode.LEASED: Sentence("node {node} leases shard {shard} of {cell} until {until:time}"),
    FindingCode.REMOVED: Sentence("job {job} was removed"),
    FindingCode.PAUSED: Sentence("job {job} is paused; `horae job resume {job}` lets it continue"),
    FindingCode.SHADOW: Sentence("job {job} is a shadow: its fires are computed and compared, and nothing runs"),
    FindingCode.COMPLETED: Sentence("job {job} has had its last fire"),
    FindingCode.NOT_STARTED: Sentence("job {job} does not fire before {start:time}"),
    FindingCode.ENDED: Sentence("job {job} does not fire from {end:time} on"),
    FindingCode.TASK_TYPE: Sentence(
        "{job} is a type: each business key has its own time; ask for one with `horae why {job}/KEY`"
    ),
    FindingCode.ROLLING_SET: Sentence(
        "{job} is a rolling set: `horae subject coverage {job}` shows which subjects are due; ask for one with "
        "`horae why {job}/KEY`"
    ),
    FindingCode.MANUAL_ONLY: Sentence("job {job} has no trigger: it fires only with `horae job trigger {job}`"),
    FindingCode.OVERDUE: Sentence(
        "job {job} should have fired at {next_fire_at:time}: its node is behind, is withheld by a measure, or was not "
        "there"
    ),
    FindingCode.NEXT_FIRE: Sentence("job {job} fires next at {next_fire_at:time}"),
    FindingCode.BEFORE_CREATION: Sentence(
        "job {job} was created at {created_at:time}, after {fire_time:time}: it has no fires before that"
    ),
    FindingCode.NOT_A_FIRE: Sentence(
        "the schedule of job {job} has no fire at {asked} ({zone})",
        {"nearest": "; the nearest one, at {nearest}, is explained"},
    ),
    FindingCode.EARLIER_VERSION: Sentence(
        "version {version} of job {job} was in force then, since {since:time}; now it is version {current}"
    ),
    FindingCode.MOVED: Sentence("somebody moved the fire at {fire_time:time} to {to:time}"),
    FindingCode.SPREAD: Sentence("the spread of job {job} delays this fire by {delay_s:span}, to {due_at:time}"),
    FindingCode.TO_COME: Sentence("the fire at {fire_time:time} is still to come; it is due at {due_at:time}"),
    FindingCode.TO_BE_SKIPPED: Sentence(
        "the fire at {fire_time:time} will not run: {reason:skip}", {"calendars": " ({calendars:list})"}
    ),
    FindingCode.MISSING: Sentence(
        "job {job} should have fired at {fire_time:time}, and there is no row of it; `horae audit fires` reports it as "
        "MISSING"
    ),
    FindingCode.NO_LONGER_KEPT: Sentence("rows of fires at {fire_time:time} are no longer kept"),
    FindingCode.DECIDED: Sentence(
        "the last request about it was {decision:decision}, made at {on:time} by {by}", {"to": ", for {to:time}"}
    ),
    FindingCode.REQUEST_IGNORED: Sentence(
        "the last request about it was ignored because {reason:ignored}; it was made at {on:time} by {by}"
    ),
    FindingCode.NOT_DUE: Sentence(f"{NAMED} is due at {{due_at:time}}"),
    FindingCode.RETRY_DUE: Sentence(f"{NAMED} is tried again at {{due_at:time}}"),
    FindingCode.OVERLAP: Sentence(
        f"{NAMED} waits for the fire before it (overlap {{overlap}})",
        {"waits_for": ": {waits_for} of the fire at {waits_for_fire_time:time} is {waits_for_state:state}"},
    ),
    FindingCode.HELD: Sentence(
        f"{NAMED} is due since {{due_at:time}} and held back since {{since:time}}: {{reason:hold}} ({{gate}})",
        {"next_try_at": "; the next call is tried at {next_try_at:time}"},
    ),
    FindingCode.NO_WORKER: Sentence(
        f"{NAMED} is due since {{due_at:time}} and waits for a worker: nobody polls the queue {{queue}}",
        {"polled_at": "; the last poll was at {polled_at:time}"},
    ),
    FindingCode.WAITS_FOR_WORKER: Sentence(
        f"{NAMED} is due since {{due_at:time}} and waits for a worker: {{polling}} poll the queue {{queue}}, and they "
        "hold {claimed} of its attempts"
    ),
    FindingCode.WAITS_FOR_NODE: Sentence(f"{NAMED} is due since {{due_at:time}}: {{reason:hold}}"),
    FindingCode.RUNNING: Sentence(
        f"attempt {{attempt}} of {NAMED} runs since {{changed_at:time}}",
        {
            "node": " on node {node}",
            "worker": " at worker {worker}",
            "deadline": "; it counts as lost after {deadline:time}",
        },
    ),
    FindingCode.SKIPPED: Sentence(
        f"{NAMED} ran nothing: {{reason:skip}}",
        {
            "calendars": " ({calendars:list})",
            "range_to": "; the row stands for {range_count} fires up to {range_to:time}",
            "count": "; at least the last {count} fires of the job ran nothing",
        },
    ),
    FindingCode.ATTEMPTS_FAILED: Sentence(f"{NAMED} has failed attempts, the newest first: {{attempts:attempts}}"),
    FindingCode.DEAD_LETTER: Sentence(
        f"{NAMED} was given up at {{changed_at:time}}",
        {
            "error_code": " with {error_code}: {error_code:error}",
            "dead_letter": "; its dead letter is {dead_letter:letter}",
            "replay": "; `horae dead-letter replay {replay}` runs it again",
        },
    ),
    FindingCode.SUCCEEDED: Sentence(f"{NAMED} succeeded at {{changed_at:time}}, with attempt {{attempt}}"),
    FindingCode.CANCELLED: Sentence(f"{NAMED} was cancelled at {{changed_at:time}}"),
    FindingCode.CREATED_LATE: Sentence(
        f"the row of {NAMED} was created {{late_s:span}} after it was due: its node caught up, because it was behind, "
        "withheld by a measure, or not there"
    ),
    FindingCode.WAS_HELD: Sentence(
        f"gates (a circuit breaker, a full target, or a limit) held {NAMED} back for {{held_s:span}}"
    ),
    FindingCode.STARTED_LATE: Sentence(
        f"{NAMED} waited {{wait_s:span}} for a free slot of its node, for a worker, or for a measure to end, before "
        "its first attempt"
    ),
    FindingCode.CALLED_AGAIN: Sentence(
        f"{NAMED} was sent {{attempt}} times with the same idempotency key {{idempotency_key}}: delivery is at least "
        "once, and a receiver that honours the key takes effect once"
    ),
    FindingCode.BACKFILLED: Sentence(
        f"{NAMED} was created by a backfill, or by a replay of many dead letters, at {{created_at:time}}, with the "
        "idempotency key of the fire"
    ),
    FindingCode.RUN_AGAIN: Sentence(
        f"{NAMED} was created at {{created_at:time}} by a backfill that runs again what succeeded, with an idempotency "
        "key of its own"
    ),
    FindingCode.REPLAYED: Sentence(
        f"{NAMED} is a replay of a dead letter, created at {{created_at:time}} with the same idempotency key"
    ),
    FindingCode.SUBJECT_OCCUPIED: Sentence(
        "a refresh of subject {key} is under way since {started_at:time}: it is in {instance}"
    ),
    FindingCode.SUBJECT_REFRESHED: Sentence("subject {key} was refreshed last at {last_success_at:time}"),
    FindingCode.SUBJECT_FAILED: Sentence(
        "the last refresh of subject {key} ended at {finished_at:time} without success"
    ),
    FindingCode.SUBJECT_NEVER_REFRESHED: Sentence(
        "subject {key} is in the set since {added_at:time} and has never been refreshed with success"
    ),
    FindingCode.SUBJECT_DUE: Sentence(
        "subject {key} is due since {due_at:time}: the ticks of job {job} take the oldest subjects first, at its pace"
    ),
    FindingCode.SUBJECT_WAITS: Sentence(
        "subject {key} is not due before {due_at:time}: it is refreshed at most once in {window_s:span}"
    ),
}
SKIP: Final = {
    SkipReason.PAUSED: "the job or the tenant was paused",
    SkipReason.MISFIRE: "its time had passed, and the misfire policy does not catch up",
    SkipReason.TOO_LATE: "it was later than the misfire policy catches up",
    SkipReason.OVER_CAP: "there were more missed fires than the misfire policy catches up",
    SkipReason.OVERLAP: "the fire before it was still running, and the overlap policy skips it",
    SkipReason.CALENDAR: "a calendar of the job excludes that day",
    SkipReason.CALENDAR_UNKNOWN: "a calendar of the job does not know that year",
    SkipReason.REQUESTED: "a person skipped this occurrence",
    SkipReason.DST_GAP: "the clocks jumped over it, and the policy of the job skips it",
    SkipReason.DECLINED: "the receiver did nothing, on purpose",
    SkipReason.REFUSED: "the database refused the row",
    SkipReason.REMOVED: "the job or type was removed",
    SkipReason.EXPIRED: "it was due and not sent within `expires_after`",
    SkipReason.PEAK: "the nodes were at peak load, and every second fire of low priority is left out then",
}
HOLD: Final = {
    HoldReason.NO_SLOT: "it waits for its turn at its node, which has a slot for each call in flight",
    HoldReason.TARGET_CAP: "the target has as many calls as it can take",
    HoldReason.NO_ANSWER: "the target does not answer the calls that it has",
    HoldReason.RATE: "the rate limit is reached",
    HoldReason.CONCURRENCY: "the concurrency limit is reached",
    HoldReason.BREAKER: "the circuit breaker of the target is open after failed calls",
    HoldReason.RETRY_BUDGET: "the retry budget of the target is spent",
    HoldReason.MEASURE: "a protective measure withholds calls of this priority",
}
ERROR: Final = {
    ErrorCode.TIMEOUT: "no answer came in time",
    ErrorCode.CONNECT: "no connection to the target could be made",
    ErrorCode.TLS: "the TLS connection to the target failed",
    ErrorCode.PROTOCOL: "the answer was not HTTP",
    ErrorCode.HTTP_408: "the target answered that the request took too long",
    ErrorCode.HTTP_425: "the target answered that it is too early",
    ErrorCode.HTTP_429: "the target answered that it gets too many requests",
    ErrorCode.HTTP_5XX: "the target answered with an error of its own",
    ErrorCode.HTTP_4XX: "the target refused the request, and a retry cannot help",
    ErrorCode.REDIRECT: "the target answered with a redirect, which is not followed",
    ErrorCode.HANDLER: "the worker reported a failure",
    ErrorCode.REFUSED: "the call, or the row of its result, was refused",
    ErrorCode.CRASH_LOOP: "three workers vanished with it",
    ErrorCode.NO_TARGET: "the target cannot be called",
    ErrorCode.NO_SECRET: "a secret that the target names is missing or unusable",
    ErrorCode.UNSENDABLE: "its templates made something that no request may carry",
    ErrorCode.SEALED: "its payload or a secret cannot be decrypted",
    ErrorCode.EXPIRED: "it waited for longer than `expires_after`",
}

WORDS: Final = ExplanationWords(
    sentences=SENTENCES,
    skip=SKIP,
    hold=HOLD,
    error=ERROR,
    decision={
        Decision.CREATED: "created",
        Decision.MOVED: "moved",
        Decision.REPLACED: "replaced, because the one before was running",
        Decision.IGNORED: "ignored",
        Decision.CANCELLED: "cancelled",
    },
    ignored={
        IgnoreReason.SUCCEEDED: "its key has succeeded, and its type does not reopen keys",
        IgnoreReason.STALE: "its version is not newer than one that was known",
        IgnoreReason.NOT_LIVE: "there was no live task to cancel",
    },
    tenant={
        TenantStatus.ACTIVE: "active",
        TenantStatus.PAUSED: "paused (`horae tenant resume` lets it continue)",
        TenantStatus.REMOVED: "removed",
    },
    letter={
        ReplayStatus.NEW: "NEW: nobody has replayed or discarded it",
        ReplayStatus.REPLAYING: "REPLAYING: a replay is under way",
        ReplayStatus.REPLAYED: "REPLAYED: a replay took effect, or was declined",
        ReplayStatus.DEAD_AGAIN: "DEAD_AGAIN: its replay was given up, too",
        ReplayStatus.DISCARDED: "DISCARDED: a person discarded it",
    },
    state={
        State.INIT: "INIT (waits)",
        State.BLOCKED: "BLOCKED (waits for the fire before it)",
        State.RUNNING: "RUNNING",
        State.FAIL: "FAIL (waits for its retry)",
        State.SUCCESS: "SUCCESS",
        State.DEAD: "DEAD",
        State.CANCELLED: "CANCELLED",
        State.SKIPPED: "SKIPPED",
    },
    kinds={
        ExplainedKind.JOB: "job",
        ExplainedKind.FIRE: "fire",
        ExplainedKind.TASK: "task",
        ExplainedKind.SUBJECT: "subject",
        ExplainedKind.INSTANCE: "instance",
    },
    heading="{kind} {subject}, at {at}:",
    attempt="attempt {attempt} with {code}{status}: {meaning}",
    attempt_status=" (status {status})",
    comma=", ",
    unknown="{value}",
)
