export default {
  title: "Alerts",
  one: "Alert",
  views: {
    label: "Views of alerts",
    alerts: "Alerts",
    channels: "Channels",
    rules: "Rules",
    silences: "Silences",
  },
  open: {
    title: "Open",
    none: "No open alerts.",
    noMatch: "No open alerts match these filters.",
    noChannel: "No alert channel yet: nobody is notified.",
    addChannel: "Add a channel",
  },
  acknowledged: { title: "Acknowledged", none: "No acknowledged alerts match these filters." },
  resolved: { title: "Resolved", none: "No resolved alerts match these filters." },
  filters: { state: "State", kind: "Kind", job: "Job", clear: "Clear filters" },
  columns: {
    alert: "Alert",
    job: "Job",
    owner: "Owner",
    reason: "Reason",
    count: "Count",
    since: "Since",
    resolvedAt: "Resolved at",
    state: "State",
    actions: "Actions",
    channel: "Channel",
    message: "Message",
    delivery: "Delivery",
    sentAt: "Sent at",
    attempts: "Attempts",
    error: "Last error",
    nextTry: "Next attempt",
  },
  facts: {
    title: "Details",
    meaning: "What it means",
    runbook: "Runbook",
    severity: "Severity",
    labels: "Labels",
    rule: "Rule",
    defaultRule: "default rule",
    lastSeen: "Last seen",
    acknowledged: "Acknowledged by",
    channels: "Channels",
    silence: "Silenced until",
    id: "Id",
  },
  messages: {
    title: "Messages",
    about: "Each message is tried until its channel accepts it, in order, and keeps its id.",
    none: "No messages: the alert was not due for one.",
  },
  status: { firing: "firing", resolved: "resolved", test: "test" },
  severity: { critical: "critical", warning: "warning", info: "info" },
  acknowledge: {
    verb: "Acknowledge",
    title: "Acknowledge “{{name}}”?",
    repeat: "The alert is not repeated any more.",
    end: "The message about its end is still sent.",
    audited: "The audit log records who acknowledged it.",
  },
  kinds: {
    dead_letter: "Dead letter",
    failures_in_a_row: "Failed several times in a row",
    late: "Late",
    missed: "Missed fire",
    no_success: "No success for too long",
    queue_unpolled: "No worker polls the queue",
    source_pending_dead: "Pending in the source, dead in Horae",
    breaker_open: "Calls to a target are stopped",
    source_drift: "Source and Horae differ",
    rolling_coverage: "Rolling job does not reach all its subjects",
    intake_stuck: "Intake makes no progress",
    trigger_delay_p95: "Fires start late",
    run_success_rate_10m: "Many runs fail",
    retry_backlog: "Retries pile up",
    dlq_growth_rate: "Dead letters grow fast",
    node_stuck: "A node makes no progress",
    cell_down: "A database cell cannot be reached",
    clock_untrusted: "A clock cannot be trusted",
    partition_missing: "A table partition is missing",
    archive_behind: "The archive is behind",
    error_budget_burning: "The error budget burns",
  },
  meanings: {
    dead_letter:
      "Horae gave up after the last attempt. The work was not done, and nobody tries it again until a person replays it.",
    failures_in_a_row:
      "Several runs of this job failed one after another. The next ones will likely fail too.",
    late: "The time of this job has passed, and no first attempt was made yet.",
    missed:
      "A fire was skipped for a cause on our side. The work of this fire was not done and is not made up for.",
    no_success: "This job has not succeeded for longer than its rule allows.",
    queue_unpolled:
      "Work waits in this queue, and no worker asks for it. Nothing in it runs until a worker is back.",
    source_pending_dead:
      "Your system still waits for this task, but Horae has given it up. Replay it or close it there.",
    breaker_open:
      "The target failed many calls in a row, or answers none. Horae holds the calls back and tests the target from time to time. They continue by themselves when it answers again.",
    source_drift:
      "The tasks of your system and the tasks in Horae are not the same. Some work may be missing or too much.",
    rolling_coverage: "Some subjects of this job were not visited within the time that it promises.",
    intake_stuck:
      "Messages with schedule changes wait and are not taken. New and changed tasks do not arrive.",
    trigger_delay_p95:
      "At least 1 of 20 calls starts later than the bound. Nodes or the database may be overloaded.",
    run_success_rate_10m:
      "Fewer runs of the last 10 minutes succeeded than the bound demands. Look at the failing targets first.",
    retry_backlog: "Many failed attempts wait for their retry. A target is likely down or slow.",
    dlq_growth_rate: "Dead letters come faster than the bound. Many tasks are given up right now.",
    node_stuck:
      "A node has stopped renewing its lease. Its fires are late until another node takes them over.",
    cell_down: "The database of a cell does not answer. Jobs of its shards neither fire nor change.",
    clock_untrusted:
      "The clock of a database jumped ahead. Its cell fires nothing until a person confirms the clock.",
    partition_missing:
      "The table for a coming day does not exist yet. Without it, writes fail when that day begins.",
    archive_behind:
      "Old days wait for the archive longer than allowed. They stay in the database and fill its disk.",
    error_budget_burning:
      "Too many fires get no verdict in time. At this rate the promised service level is missed.",
  },
};
