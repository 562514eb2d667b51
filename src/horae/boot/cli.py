"""The command line: `horae --help` lists all commands.

A command imports only its own module. Most commands run for a moment, and importing all modules would take most of that
time.
"""

import sys
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

import typer

from horae import __version__
from horae.boot.manual import page
from horae.boot.output import answer, say
from horae.boot.verbs import Verbs


class CommandHome(NamedTuple):
    """The module of a command in `commands`, and the name of its app or function there. `help` is for groups."""

    module: str
    name: str = "app"
    help: str | None = None


WORDS: Final = {
    "job": CommandHome(
        "job_verbs",
        help="Jobs: create, list, show, pause, resume, remove, trigger, test, versions, single occurrences.",
    ),
    "context": CommandHome("contexts", help="Contexts: which API the commands speak to, and with which key."),
    "login": CommandHome("contexts", "login"),
    "calendar": CommandHome("calendars", help="Calendars: workdays, holidays, trading days."),
    "task": CommandHome("tasks", help="Tasks: set the time of a business key."),
    "dead-letter": CommandHome("dead", help="Dead letters: list, replay, discard."),
    "tenant": CommandHome("tenants", help="Tenants: the owners of jobs."),
    "cell": CommandHome("cells", help="Cells: the PostgreSQL clusters that hold the shards."),
    "migrate": CommandHome("cells", "migrate"),
    "keyring": CommandHome("keyring", help="The keyring that encrypts payloads: create, rotate, rewrap."),
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
    "node": CommandHome("node", "node"),
    "api": CommandHome("api", "api"),
    "dev": CommandHome("dev", "dev"),
    "doctor": CommandHome("doctor", "doctor"),
    "instance": CommandHome("runs", "instance", "Instances: list, show, cancel, retry."),
    "hold": CommandHome("holds", help="Holds: which targets and limits hold calls back, and why."),
    "queue": CommandHome("queues", help="Queues: what waits in them, and who polls them."),
    "worker": CommandHome("queues", "worker", "Workers: which processes poll which queues."),
    "backfill": CommandHome("backfills", help="Backfills: run the past fires of a job, by a range of time."),
    "health": CommandHome("runs", "health"),
    "lateness": CommandHome("lateness", "lateness"),
    "service-level": CommandHome("service_level", "service_level"),
    "nodes": CommandHome("runs", "nodes"),
    "shards": CommandHome("runs", "shards"),
    "history": CommandHome("jobs", "history"),
    "forecast": CommandHome("schedules", "forecast"),
    "import": CommandHome("imports", help="Import schedules from crontab, Celery beat, XXL-JOB and Quartz."),
    "shadow": CommandHome("shadows", help="Shadow jobs: they fire nothing and are compared with the old system."),
    "plan": CommandHome("plans", "plan"),
    "apply": CommandHome("plans", "apply"),
}


@cache
def whole() -> Verbs:
    """All commands."""
    return app_of(*WORDS)


def main() -> None:
    """The entry point of the `horae` program."""
    match sys.argv[1:2]:
        case [word] if word in WORDS:
            app_of(word)()
        case ["version"]:
            app_of()()
        case _:
            whole()()


def app_of(*words: str) -> Verbs:
    """An app with the named commands, each as it is in the whole app."""
    app = Verbs(
        name="horae", help="Decides when to try; your business decides whether it takes effect.", no_args_is_help=True
    )
    for word in words:
        room = WORDS[word]
        found = getattr(import_module(f"horae.boot.commands.{room.module}"), room.name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=word, help=room.help)
        else:
            app.command(word)(found)
    app.command()(version)
    app.command(hidden=True)(manual)
    return app


def version() -> None:
    """Print the release of this program."""
    say({"version": __version__}, __version__)


def manual() -> None:
    """Print the page docs/cli.md."""
    text = page(whole())
    answer({"page": text}, lambda: print(text, end=""))
