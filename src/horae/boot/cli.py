"""The command line: `horae --help` lists it.

A word brings in its own room only: most commands last a moment, and loading all others would take most of it.
"""

import sys
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

import typer

from horae import __version__
from horae.boot.manual import page
from horae.boot.telling import Verbs, answer, say


class Room(NamedTuple):
    """Where a word is at home: a module of `commands`, and what of it is meant. A noun says its help here."""

    module: str
    name: str = "app"
    help: str | None = None


WORDS: Final = {
    "job": Room(
        "job_verbs",
        help="Jobs: create, list, show, pause, resume, remove, trigger, test, versions, single occurrences.",
    ),
    "calendar": Room("calendars", help="Calendars: workdays, holidays, trading days."),
    "task": Room("tasks", help="Tasks: set the time of a business key."),
    "dead": Room("dead", help="Dead letters: list, replay, discard."),
    "tenant": Room("tenants", help="Tenants: who owns jobs."),
    "cells": Room("cells", help="Cells: the PostgreSQL clusters that hold the shards."),
    "migrate": Room("cells", "migrate"),
    "keyring": Room("keyring", help="Keys that seal payloads: create, rotate, wrap anew."),
    "keys": Room("keys", help="API keys: the first one, and those of any tenant."),
    "audit": Room("audit", help="The sealed audit log: verify, anchor."),
    "secrets": Room("secrets", help="Named secrets of a tenant: put, list without values, remove."),
    "sources": Room("sources", help="Sources: where a business lists what should be pending."),
    "subjects": Room("subjects", help="Subjects of rolling jobs: add, remove, import, list, coverage."),
    "subscription": Room("subscriptions", help="Subscriptions: who is told of what happens, and again."),
    "intake": Room("intakes", help="Intakes: topics that schedule changes come by."),
    "parked": Room("intakes", "parking", "Messages that an intake could make nothing of: list, replay, drop."),
    "node": Room("node", "node"),
    "api": Room("api", "api"),
    "dev": Room("dev", "dev"),
    "doctor": Room("doctor", "doctor"),
    "instance": Room("runs", "instance", "Instances: list, show, cancel, retry."),
    "hold": Room("holds", help="Holds: which targets and limits hold calls back, and why."),
    "backfill": Room("backfills", help="Backfills: past fires of a job, asked for as a range."),
    "health": Room("runs", "health"),
    "lateness": Room("lateness", "lateness"),
    "nodes": Room("runs", "nodes"),
    "shards": Room("runs", "shards"),
    "history": Room("jobs", "history"),
    "forecast": Room("schedules", "forecast"),
    "import": Room("imports", help="Schedules of crontab, Celery beat, XXL-JOB and Quartz."),
    "shadow": Room("shadows", help="Jobs that fire nothing, beside the system they take over from."),
    "plan": Room("plans", "plan"),
    "apply": Room("plans", "apply"),
}


@cache
def whole() -> Verbs:
    """All commands."""
    return app_of(*WORDS)


def main() -> None:
    """Where the `horae` program begins."""
    match sys.argv[1:2]:
        case [word] if word in WORDS:
            app_of(word)()
        case ["version"]:
            app_of()()
        case _:
            whole()()


def app_of(*words: str) -> Verbs:
    """Some commands, as they are among all others."""
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
    """Say which release this is."""
    say({"version": __version__}, __version__)


def manual() -> None:
    """Write the page docs/cli.md."""
    text = page(whole())
    answer({"page": text}, lambda: print(text, end=""))
