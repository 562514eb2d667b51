"""What `make reports` measures: every benchmark with its full size, its meaning and the figures to watch."""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """One report. `figures` stand on the page; `ratios` are kept in the history and drawn."""

    name: str
    seconds: float
    means: str
    figures: tuple[str, ...]
    ratios: tuple[str, ...]


CONTENTS: Final = (
    Entry(
        "store",
        110,
        "the lifecycle through the store beside pgbench on the same statements; tasks likewise; a single"
        " updated table and the append-only limit beside both",
        ("ratio", "pg_cpu_ratio", "client_cpu_ms_per_fire", "wal_bytes_per_fire", "bare_vs_single_table", "task_ratio"),
        ("ratio", "task_ratio"),
    ),
    Entry(
        "engine",
        70,
        "the engine without a network beside the store",
        ("ratio", "rate", "fires", "rows_in_history"),
        ("ratio",),
    ),
    Entry(
        "push",
        70,
        "fires through real HTTP beside a bare pusher with the same statements and client; lateness at half"
        " the rate and at 200/s",
        ("ratio", "rate", "p95_ms", "p99_ms", "quiet_p95_ms", "fires", "rows_in_history"),
        ("ratio",),
    ),
    Entry(
        "herd",
        50,
        "10,000, 20,000 and 100,000 jobs in one second, and 500 critical fires a second beside the largest",
        ("p95_10k_ms", "drained_100k_s", "critical_p95_ms"),
        ("p95_10k_ms", "critical_p95_ms"),
    ),
    Entry(
        "overload",
        60,
        "three times what a node can send for a minute, then half: plain, with a target that slows, with 200,000"
        " retries, with PostgreSQL at half speed; the worst of five runs each",
        ("plain_throughput_ratio", "plain_critical_p95_ms", "plain_quiet_p95_ms", "plain_gone_beside_bound"),
        ("plain_throughput_ratio", "plain_gone_beside_bound"),
    ),
    Entry(
        "fairness",
        70,
        "one tenant's 200,000 timers beside others, a limit over three nodes, the cost of limits that never bind"
        " (the worst of five)",
        ("b_p95_ms", "share_error", "limit_excess", "limit_busiest_second", "admission_cpu_overhead"),
        ("share_error", "admission_cpu_overhead"),
    ),
    Entry(
        "measures",
        110,
        "a node as it is beside one without signals and protective measures, at full load over HTTP",
        ("cost", "cpu_cost", "rate", "rate_without"),
        ("cost", "cpu_cost"),
    ),
    Entry(
        "workers",
        75,
        "no-op tasks through two workers of the client and one API process, beside the bare drain"
        " and PgQueuer with two",
        ("ratio", "vs_pgqueuer", "rate"),
        ("ratio", "vs_pgqueuer"),
    ),
    Entry(
        "logs",
        90,
        "the same workers beside a hundred handlers that log ten lines a second each, and beside a hundred that wait",
        ("cost", "rate", "rate_without", "lines", "lines_in_database"),
        ("cost",),
    ),
    Entry(
        "api",
        360,
        "one API process beside the bare framework and beside the bare SQL: PUT of one task and of a hundred, a page of"
        " history, workers; then at half load",
        ("batch_put_ratio", "single_put_ratio", "history_ratio", "workers_ratio", "p99_ms"),
        ("batch_put_ratio", "single_put_ratio", "history_ratio", "workers_ratio"),
    ),
    Entry(
        "cron",
        50,
        "`next()` beside cronsim's running iterator; a day's forecast for 100,000 jobs",
        ("ratio", "worst"),
        ("ratio", "worst"),
    ),
    Entry("dst", 0, "1,080 clock changes: five other schedulers and ours", ("table.horae.wrong",), ()),
    Entry(
        "audit",
        25,
        "what sealing the audit log costs beside the changes it seals, sealer and its backend",
        ("sealer_share", "rows", "rows_sealed"),
        ("sealer_share",),
    ),
    Entry(
        "security_cost",
        250,
        "what the guard of addresses, the signature and sealed payloads cost a fire, each and all, beside none;"
        " `again` has none either: the error of the measurement",
        ("more.all", "more.again"),
        ("more.all",),
    ),
    Entry(
        "churn",
        20,
        "size of the live table after a million lifecycles, with upkeep vacuuming beside them",
        ("live_mb_largest",),
        ("live_mb_largest",),
    ),
    Entry(
        "snapshot",
        360,
        "three minutes under a held snapshot beside the same without; the worst of five runs",
        ("ratio",),
        ("ratio",),
    ),
    Entry(
        "sources",
        0,
        "a million business rows beside a million tasks with 100 differences, over two cells",
        ("seconds", "exact", "memory_mb"),
        ("seconds",),
    ),
    Entry(
        "million",
        80,
        "a node over 3 M jobs beside 10,000",
        ("ready_s", "rss_mb", "cpu_growth", "idle_queries_per_s"),
        ("cpu_growth", "idle_queries_per_s"),
    ),
    Entry(
        "scale",
        0,
        "buffers per row of due scan, claim and task lookup at 10 k, 300 k and 3 M jobs with 1 M due instances",
        ("buffers_per_row_max", "growth"),
        ("buffers_per_row_max", "growth"),
    ),
    Entry(
        "rows",
        30,
        "bytes of a row with its indexes, by kind of job: history of a plain cron fire; what a fire leaves each day",
        ("history_bytes", "each_day_bytes.task", "each_day_bytes.three_attempts", "each_day_bytes.dead_letter"),
        ("history_bytes",),
    ),
    Entry(
        "graph",
        70,
        "1,000 graphs of 10 steps beside plain fires of the same engine, without a network",
        ("rate", "plain", "ratio", "statements_per_fire", "steps", "rows_in_history"),
        ("ratio",),
    ),
    Entry(
        "observing",
        0,
        "what metrics, and traces of one fire in a hundred, add to a fire, as parts of a node's CPU",
        ("metrics_us_per_fire", "metrics_part", "traces_us_per_fire", "traces_part"),
        ("metrics_part", "traces_part"),
    ),
)
