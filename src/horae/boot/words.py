"""The words of the command line: where each command is, and its help.

This module imports nothing, so that `horae --help` lists all commands without importing them.
"""

from typing import Final, NamedTuple

SUMMARY: Final = "Decides when to try; your business decides whether it takes effect."


class CommandHome(NamedTuple):
    """The module of a command in `commands`, the name of its app or function there, and its help in one line.

    The help of a single command is also the first line of its docstring; a test compares them.
    """

    module: str
    name: str = "app"
    help: str = ""


WORDS: Final = {
    "job": CommandHome(
        "job_verbs",
        help="Jobs: create, list, show, pause, resume, remove, trigger, test, versions, single fires, worst jobs.",
    ),
    "graph": CommandHome("graphs", help="Graphs: create, draw, list runs, show one, retry, skip or mark its steps."),
    "context": CommandHome("contexts", help="Contexts: which API the commands speak to, and with which key."),
    "login": CommandHome(
        "contexts",
        "login",
        "Log in to an API: check a key with it, and use both from now on. The key is prompted for, or piped in.",
    ),
    "calendar": CommandHome("calendars", help="Calendars: workdays, holidays, trading days."),
    "task": CommandHome("tasks", help="Tasks: set the time of a business key."),
    "dead-letter": CommandHome("dead", help="Dead letters: list, replay, discard, tag."),
    "failure-cause": CommandHome(
        "failure_causes", help="Failure causes: why dead letters died, and what changed since."
    ),
    "paced-replay": CommandHome("paced_replays", help="Paced replays of dead letters: start, list, show, stop."),
    "tenant": CommandHome("tenants", help="Tenants: the owners of jobs."),
    "cell": CommandHome("cells", help="Cells: the PostgreSQL clusters that hold the shards."),
    "shard": CommandHome("shard_moves", help="Shards: move them to other cells, and see how far moves are."),
    "init": CommandHome(
        "init",
        "init",
        "Set up a deployment: keyring, settings file, roles, database, tables, first tenant and its admin key.",
    ),
    "config": CommandHome("config", help="Settings: show every value and where it comes from, check them."),
    "migrate": CommandHome(
        "cells", "migrate", "Bring every cell up to this release; create the configured tenant on the first run."
    ),
    "measure": CommandHome("measures", help="Protective measures: list them, decide about one, lift a decision."),
    "recover": CommandHome("recovery", help="Recovery from incidents: start it, see how far it is, stop it."),
    "restore": CommandHome(
        "restore", help="Restored cells: examine, open, and decide about what the restore put in doubt."
    ),
    "drill": CommandHome("drills", help="Drills: break something on purpose, measure, and take the way back."),
    "keyring": CommandHome(
        "keyring", help="The keyring that encrypts payloads, and signing keys: create, rotate, rewrap, remove, show."
    ),
    "certificate": CommandHome("certificates", help="Certificates: what became of every fire of a day, signed."),
    "key": CommandHome("keys", help="API keys: create, list, revoke, bind; and the first one."),
    "audit": CommandHome("audit", help="The audit log and its hash chain: list, verify, anchor."),
    "secret": CommandHome("secrets", help="Named secrets of a tenant: put, list without values, remove."),
    "source": CommandHome("sources", help="Sources: a business's own lists of its pending tasks, compared with ours."),
    "subject": CommandHome("subjects", help="Subjects of rolling jobs: add, remove, import, list, coverage."),
    "subscription": CommandHome("subscriptions", help="Subscriptions: where events are sent, and sending them again."),
    "alert": CommandHome("alerts", help="Alerts: list, show, acknowledge."),
    "alert-channel": CommandHome("alert_channels", help="Alert channels: where alerts are sent, and sending a test."),
    "alert-rule": CommandHome(
        "alert_channels", "rules", "Alert rules: what is a fault, and where messages about it go."
    ),
    "silence": CommandHome("alert_channels", "silences", "Silences: when alerts are recorded and not sent."),
    "intake": CommandHome("intakes", help="Intakes: topics from which schedule changes are read."),
    "parked-message": CommandHome(
        "intakes", "parking", "Messages that an intake could not process: list, replay, drop."
    ),
    "node": CommandHome(
        "node", "node", "Run a scheduler node: it fires what is due, sends the calls and records the results."
    ),
    "api": CommandHome(
        "api", "api", "Run the API server: the REST API under /api/v1. Several processes can share one port."
    ),
    "serve": CommandHome(
        "serve",
        "serve",
        "Run the API, the console and a node with its upkeep in one process: enough for 1,000 fires a second.",
    ),
    "dev": CommandHome(
        "dev",
        "dev",
        "Run everything in one process: a private database unless HORAE_DSN is set, a node, the API, and sample jobs.",
    ),
    "doctor": CommandHome(
        "doctor", "doctor", "Check every cell and suggest what to change. Exits with 1 if a guarantee is at risk."
    ),
    "capacity": CommandHome(
        "capacity",
        "capacity",
        "Compute cells, nodes, CPU, memory, connections, WAL, disk and network for a load, from measured figures.",
    ),
    "instance": CommandHome("runs", "instance", "Instances: list, show, result, cancel, retry."),
    "logs": CommandHome(
        "logs", "logs", "Print the lines that the attempts of an instance logged; with -f as they are written."
    ),
    "hold": CommandHome("holds", help="Holds: which targets and limits hold calls back, and why."),
    "queue": CommandHome("queues", help="Queues: what waits in them, and who polls them."),
    "worker": CommandHome("queues", "worker", "Workers: which processes poll which queues."),
    "backfill": CommandHome("backfills", help="Backfills: run the past fires of a job, by a range of time."),
    "backfill-group": CommandHome(
        "backfill_groups", help="Backfill groups: run the past fires of many jobs, by label."
    ),
    "health": CommandHome("runs", "health", "Show the health of the scheduler."),
    "lateness": CommandHome(
        "lateness", "lateness", "Show how late fires were, by the second of the minute at which they were due."
    ),
    "service-level": CommandHome(
        "service_level",
        "service_level",
        "Show how many due times were in time in 30 days, and how fast the error budget burns.",
    ),
    "why": CommandHome(
        "why",
        "why",
        "Say why a job, one of its fires, a task, a subject or an instance has or has not run, and what it waits for.",
    ),
    "nodes": CommandHome(
        "runs", "nodes", "List every node in every cell: how many shards it holds, and whether it is alive."
    ),
    "shards": CommandHome(
        "runs", "shards", "Show how many shards of each cell each node holds; with --json every shard."
    ),
    "history": CommandHome("jobs", "history", "List the fires of a job with their results, newest first."),
    "forecast": CommandHome(
        "forecasts", help="Show how many fires are coming, and the busiest seconds; spread the jobs of these."
    ),
    "import": CommandHome("imports", help="Import schedules from crontab, Celery beat, XXL-JOB and Quartz."),
    "shadow": CommandHome("shadows", help="Shadow jobs: they fire nothing and are compared with the old system."),
    "plan": CommandHome(
        "plans", "plan", "Show what applying a source of schedules would change, field by field. Nothing is written."
    ),
    "apply": CommandHome(
        "plans",
        "apply",
        "Change the jobs to what a source of schedules says. Conflicts are printed and not changed, unless `--force`.",
    ),
}
