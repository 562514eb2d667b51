"""The dashboards: which charts they have, and from which queries. `tools/dashboards.py` writes them for Grafana."""

from typing import Final, NamedTuple


class Panel(NamedTuple):
    """One chart. `queries`: expressions with their legends. `unit`: one of Grafana's."""

    title: str
    text: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"


class Variable(NamedTuple):
    """A choice at the top of a board: the values of a label of a metric."""

    name: str
    metric: str


class Board(NamedTuple):
    """One dashboard."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    variables: tuple[Variable, ...] = ()


CELL: Final = Variable("cell", "horae_cell_up")
NODE: Final = Variable("instance", 'up{job="horae-node"}')
TENANT: Final = Variable("tenant_id", "horae_busiest_tenant_attempts")
JOB: Final = Variable("job_id", "horae_job_attempts_total")


def _quantiles(metric: str, matching: str = "") -> tuple[tuple[str, str], ...]:
    rate = f"sum by (le) (rate({metric}_bucket{matching}[$__rate_interval]))"
    return tuple((f"histogram_quantile({part}, {rate})", f"p{part * 100:g}") for part in (0.5, 0.95, 0.99))


def _rate(metric: str, by: str, matching: str = "") -> str:
    return f"sum by ({by}) (rate({metric}{matching}[$__rate_interval]))"


ENDED: Final = _rate("horae_attempts_total", "cell", '{result=~"success|failed|dead"}')
SUCCESS_RATE: Final = _rate("horae_attempts_total", "cell", '{result="success"}') + " / " + ENDED
DUE_TIMES: Final = "sum by (cell) (max by (cell, priority, verdict) (horae_due_times{}))"
"""Every process says the same of a cell, so the maximum is what one of them says."""
IN_TIME_SHARE: Final = DUE_TIMES.format('{verdict="in_time"}') + " / " + DUE_TIMES.format("")
OVERVIEW: Final = Board(
    "overview",
    "Horae: overview",
    (
        Panel("Processes", "Processes that answer Prometheus.", (('sum by (job) (up{job=~"horae-.*"})', "{{job}}"),)),
        Panel(
            "Firing alerts",
            "Alerts of Horae that fire now.",
            (
                (
                    """count by (alertname) (ALERTS{alertname=~"Horae.*", alertstate="firing"}) or on () vector(0)""",
                    "{{alertname}}",
                ),
            ),
        ),
        Panel(
            "Trigger delay",
            "How late first attempts are, without the time at gates. The promise is two seconds.",
            _quantiles("horae_trigger_delay_seconds"),
            "s",
        ),
        Panel(
            "First attempts",
            "First attempts a second.",
            ((_rate("horae_trigger_delay_seconds_count", "priority"), "{{priority}}"),),
            "reqps",
        ),
        Panel(
            "Error budget",
            "The part of the error budget of 30 days that is left. Negative: it is overdrawn.",
            (("min by (cell, priority) (horae_error_budget_remaining_ratio)", "{{cell}} {{priority}}"),),
            "percentunit",
        ),
        Panel(
            "Burn rate",
            "How many times faster than allowed the error budget burns, by span of time. 1 uses it up in 30 days.",
            (("max by (cell, priority, span) (horae_error_budget_burn_rate)", "{{cell}} {{priority}} {{span}}"),),
        ),
        Panel(
            "Due times in time",
            "The part of the due times of the last 30 days that was in time, and the objective.",
            ((IN_TIME_SHARE, "{{cell}}"), ("max(horae_service_level_objective_ratio)", "objective")),
            "percentunit",
        ),
        Panel(
            "Due times by verdict",
            "Due times a second, in time and late, and how many are overdue in shards that no node holds.",
            (
                (_rate("horae_due_times_served_total", "verdict"), "{{verdict}}"),
                ("max by (cell, priority) (horae_due_times_overdue)", "overdue in {{cell}} {{priority}}"),
            ),
        ),
        Panel(
            "Attempts by result",
            "Attempts a second whose result was written.",
            ((_rate("horae_attempts_total", "result"), "{{result}}"),),
            "reqps",
        ),
        Panel(
            "Success rate",
            "The part of attempts that succeed.",
            (
                (
                    SUCCESS_RATE,
                    "{{cell}}",
                ),
            ),
            "percentunit",
        ),
        Panel(
            "Backlog",
            "Instances that are due and not claimed, and that wait for a retry.",
            (
                ("max by (cell) (horae_backlog_instances)", "due in {{cell}}"),
                ("max by (cell) (horae_retry_backlog_instances)", "retry in {{cell}}"),
            ),
        ),
        Panel(
            "Dead letters",
            "Dead letters that wait for a person.",
            (("max by (cell) (horae_dead_letters_open)", "{{cell}}"),),
        ),
        Panel(
            "Protective measures",
            "Measures in force, and whether more nodes are asked for.",
            (
                ("max by (measure, scope) (horae_measures_in_force)", "{{measure}} {{scope}}"),
                ("max(horae_nodes_wanted)", "more nodes"),
            ),
        ),
        Panel(
            "API requests",
            "Requests a second by status.",
            ((_rate("horae_api_requests_total", "status"), "{{status}}"),),
            "reqps",
        ),
        Panel(
            "API time to answer",
            "Without long polls of workers.",
            _quantiles("horae_api_request_seconds", '{route!~".*/workers/poll"}'),
            "s",
        ),
    ),
)
TENANTS: Final = Board(
    "tenant",
    "Horae: tenants and jobs",
    (
        Panel(
            "Busiest tenants",
            "Attempts in the last minute of the tenants that had most.",
            (("sum by (tenant_id) (horae_busiest_tenant_attempts)", "{{tenant_id}}"),),
        ),
        Panel(
            "Failures of the busiest tenants",
            "Attempts of the last minute that failed or died.",
            (('sum by (tenant_id) (horae_busiest_tenant_attempts{result=~"failed|dead"})', "{{tenant_id}}"),),
        ),
        Panel(
            "Attempts of the tenant",
            "Attempts of the chosen tenant in the last minute, by result.",
            (('sum by (result) (horae_busiest_tenant_attempts{tenant_id=~"$tenant_id"})', "{{result}}"),),
        ),
        Panel(
            "Share of the tenant",
            "The part of the chosen tenant in the attempts of the busiest ones.",
            (
                (
                    'sum(horae_busiest_tenant_attempts{tenant_id=~"$tenant_id"}) / sum(horae_busiest_tenant_attempts)',
                    "share",
                ),
            ),
            "percentunit",
        ),
        Panel(
            "Attempts of the job",
            "Attempts a second of jobs with the label metrics=on.",
            ((_rate("horae_job_attempts_total", "job_id, result", '{job_id=~"$job_id"}'), "{{job_id}} {{result}}"),),
            "reqps",
        ),
        Panel(
            "Trigger delay of the job",
            "How late first attempts of jobs with the label metrics=on are.",
            _quantiles("horae_job_trigger_delay_seconds", '{job_id=~"$job_id"}'),
            "s",
        ),
    ),
    (TENANT, JOB),
)
NODES: Final = Board(
    "node",
    "Horae: nodes",
    (
        Panel(
            "Shards",
            "Shards that a node holds.",
            (('sum by (instance) (horae_shards_held{instance=~"$instance"})', "{{instance}}"),),
        ),
        Panel(
            "Nodes alive",
            "Nodes that a node sees alive, itself included.",
            (('min by (instance, cell) (horae_nodes_alive{instance=~"$instance"})', "{{instance}} in {{cell}}"),),
        ),
        Panel(
            "Lease",
            "Seconds until the lease ends unless it is renewed.",
            (('horae_lease_remaining_seconds{instance=~"$instance"}', "{{instance}} in {{cell}}"),),
            "s",
        ),
        Panel(
            "Shards gained, lost and taken over",
            "Changes of shards. Shards of dead nodes are taken over.",
            (
                (
                    _rate("horae_shard_changes_total", "instance, change", '{instance=~"$instance"}'),
                    "{{instance}} {{change}}",
                ),
                (
                    _rate("horae_shards_taken_over_total", "instance", '{instance=~"$instance"}'),
                    "{{instance}} taken over",
                ),
            ),
            "ops",
        ),
        Panel(
            "Parts without progress",
            "0: everything makes progress.",
            (
                (
                    'sum by (instance, what) (horae_stuck{instance=~"$instance"}) or on () vector(0)',
                    "{{instance}} {{what}}",
                ),
            ),
        ),
        Panel(
            "Timers",
            "Timers in memory, and those that are due and were not offered yet.",
            (
                ('sum by (instance) (horae_timers{instance=~"$instance"})', "{{instance}}"),
                ('sum by (instance) (horae_timers_due{instance=~"$instance"})', "{{instance}} due"),
            ),
        ),
        Panel(
            "Slots",
            "Slots for calls in flight.",
            (('sum by (instance, state) (horae_slots{instance=~"$instance"})', "{{instance}} {{state}}"),),
        ),
        Panel(
            "Results",
            "Results that are not written yet, and batches a second.",
            (
                ('sum by (instance) (horae_results_unwritten{instance=~"$instance"})', "{{instance}} unwritten"),
                (_rate("horae_settle_batches_total", "instance", '{instance=~"$instance"}'), "{{instance}} batches"),
            ),
        ),
        Panel(
            "CPU",
            "1 is a whole core.",
            ((_rate("process_cpu_seconds_total", "instance", '{instance=~"$instance"}'), "{{instance}}"),),
        ),
        Panel(
            "Memory",
            "Resident memory.",
            (('process_resident_memory_bytes{instance=~"$instance"}', "{{instance}}"),),
            "bytes",
        ),
    ),
    (NODE,),
)
CELLS: Final = Board(
    "cell",
    "Horae: cells",
    (
        Panel(
            "Reached by",
            "Processes that reach the cell.",
            (('sum by (cell) (horae_cell_up{cell=~"$cell"})', "{{cell}}"),),
        ),
        Panel(
            "Clock",
            "Seconds since the clock was read, and how far it has jumped.",
            (
                ('max by (cell) (horae_cell_clock_age_seconds{cell=~"$cell"})', "{{cell}} age"),
                ('max by (cell) (horae_cell_clock_ahead_seconds{cell=~"$cell"})', "{{cell}} ahead"),
            ),
            "s",
        ),
        Panel(
            "Connections",
            "Pooled connections by state.",
            (
                ('sum by (cell, state) (horae_cell_connections{cell=~"$cell"})', "{{cell}} {{state}}"),
                ('sum by (cell) (horae_cell_connections_max{cell=~"$cell"})', "{{cell}} at most"),
            ),
        ),
        Panel(
            "Waits for connections",
            "Callers that wait for a connection, on average.",
            (
                (_rate("horae_pool_wait_seconds_total", "cell, job", '{cell=~"$cell"}'), "{{cell}} {{job}}"),
                (
                    _rate("horae_pool_timeouts_total", "cell, job", '{cell=~"$cell"}'),
                    "{{cell}} {{job}} timeouts a second",
                ),
            ),
        ),
        Panel(
            "Sessions",
            "Sessions of the database by state.",
            (('max by (cell, state) (horae_database_sessions{cell=~"$cell"})', "{{cell}} {{state}}"),),
        ),
        Panel(
            "Database",
            "The size of the database, and the space that it has.",
            (
                ('max by (cell) (horae_database_size_bytes{cell=~"$cell"})', "{{cell}}"),
                ('max by (cell) (horae_database_disk_bytes{cell=~"$cell"})', "{{cell}} disk"),
            ),
            "bytes",
        ),
        Panel(
            "Days",
            "Days of history: ahead, kept, and over their term.",
            (
                ('min by (cell) (horae_partition_days_ahead{cell=~"$cell"})', "{{cell}} ahead"),
                ('max by (cell) (horae_partition_days_kept{cell=~"$cell"})', "{{cell}} kept"),
                ('max by (cell) (horae_partition_days_behind{cell=~"$cell"})', "{{cell}} over their term"),
            ),
        ),
        Panel(
            "Moves of shards",
            "Moves that have not ended, by step, and those whose last try ended with an error.",
            (
                ('max by (cell, step) (horae_shard_moves_running{cell=~"$cell"})', "{{cell}} {{step}}"),
                ('max by (cell) (horae_shard_moves_failing{cell=~"$cell"})', "{{cell}} with an error"),
            ),
        ),
        Panel(
            "Closed for moves",
            "For how long moving shards were closed.",
            _quantiles("horae_shard_move_pause_seconds", '{cell=~"$cell"}'),
            "s",
        ),
        Panel(
            "Archive",
            "Seconds since the end of the oldest day that is not archived. Only with an archive.",
            (('max by (cell) (horae_archive_lag_seconds{cell=~"$cell"})', "{{cell}}"),),
            "s",
        ),
        Panel(
            "WAL archive",
            "Seconds since WAL was last archived: what a restore would lose now. Only where the server archives WAL.",
            (('max by (cell) (horae_wal_archive_lag_seconds{cell=~"$cell"})', "{{cell}}"),),
            "s",
        ),
        Panel(
            "Events behind",
            "How far subscriptions and compensations are behind.",
            (
                ('max by (cell) (horae_feed_lag_seconds{cell=~"$cell"})', "{{cell}} subscriptions"),
                ('max by (cell) (horae_relay_lag_seconds{cell=~"$cell"})', "{{cell}} compensations"),
            ),
            "s",
        ),
        Panel(
            "Audit of fires",
            "Findings that are open: fires that are missing, doubled or wrong, and schedules that stand still.",
            (('max by (cell) (horae_audit_findings_open{cell=~"$cell"})', "{{cell}}"),),
        ),
        Panel(
            "Audit of fires behind",
            "Seconds since the last fire that the audit has judged.",
            (('max by (cell) (horae_audit_lag_seconds{cell=~"$cell"})', "{{cell}}"),),
            "s",
        ),
        Panel(
            "Sources and intakes",
            "Tasks that differ from the lists of their sources, and messages that wait for intakes.",
            (
                ('max by (cell) (horae_source_drift_tasks{cell=~"$cell"})', "{{cell}} tasks"),
                ('sum(horae_intake_waiting_messages{cell=~"$cell"}) or on () vector(0)', "messages"),
            ),
        ),
    ),
    (CELL,),
)
DELIVERY: Final = Board(
    "delivery",
    "Horae: delivery",
    (
        Panel(
            "Calls in flight",
            "Calls that were sent and have no result yet.",
            (('sum by (cell) (horae_calls_in_flight{cell=~"$cell"})', "{{cell}}"),),
        ),
        Panel(
            "Calls that wait",
            "Calls that are due and wait for their turn, at a gate, or for a shared limit.",
            (("sum(horae_calls_waiting)", "all"), ("sum(horae_calls_limited)", "for a shared limit")),
        ),
        Panel(
            "Held by reason",
            "Calls that a gate holds back.",
            (("sum by (reason) (horae_calls_held) or on () vector(0)", "{{reason}}"),),
        ),
        Panel(
            "Breakers", "Targets by the state of their breaker.", (("sum by (breaker) (horae_targets)", "{{breaker}}"),)
        ),
        Panel(
            "Windows",
            "Calls that all targets together may have in flight.",
            (("sum(horae_target_window_calls)", "calls"),),
        ),
        Panel(
            "Shared limits",
            "Permits and calls granted a second, and limits in use.",
            (
                (_rate("horae_limit_grants_total", "cell", '{cell=~"$cell"}'), "{{cell}} granted"),
                ("sum(horae_limits)", "limits"),
            ),
        ),
        Panel(
            "Delay with held time",
            "How late first attempts are, with the time at gates.",
            _quantiles("horae_trigger_delay_with_held_seconds", '{cell=~"$cell"}'),
            "s",
        ),
        Panel(
            "Delay without held time",
            "How late first attempts are, without the time at gates.",
            _quantiles("horae_trigger_delay_seconds", '{cell=~"$cell"}'),
            "s",
        ),
        Panel(
            "Attempts by lane",
            "First attempts, retries and backfills a second.",
            ((_rate("horae_attempts_total", "lane, result", '{cell=~"$cell"}'), "{{lane}} {{result}}"),),
            "reqps",
        ),
        Panel(
            "Late results",
            "Results a second that were refused, because the attempt had another owner by then.",
            ((_rate("horae_results_late_total", "cell", '{cell=~"$cell"}'), "{{cell}}"),),
            "reqps",
        ),
    ),
    (CELL,),
)
BOARDS: Final = (OVERVIEW, TENANTS, NODES, CELLS, DELIVERY)
