"""`horae import …`: schedules of other systems as a jobs.yaml, as a plan, or applied at once."""

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import uvloop

from horae.boot.commands.importing import Wishes, deliver
from horae.boot.refusals import exit_on_refusal
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid, NotFound
from horae.domain.zones.zones import zone as check_zone
from horae.service.imports import celery, celery_tables, crontab, databases, dumps, quartz_tables, xxl_job
from horae.service.imports.dumps import Tables
from horae.service.imports.results import Found

app = Verbs(no_args_is_help=True)
ANCHOR: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""The start of intervals whose real start is unknown: the same at every import."""
From = Annotated[str, typer.Argument(metavar="FILE", help="A file, - for what is piped in, or a postgresql:// DSN.")]
Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Dumps of its tables, or a postgresql:// DSN.")]
Zone = Annotated[str | None, typer.Option(help="The zone of the old machine's clock; this machine's if omitted.")]
Owner = Annotated[str, typer.Option(help="The owner of the imported jobs.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the jobs.yaml here, not to the terminal.")]
Url = Annotated[str | None, typer.Option(help="Where to send them, such as https://host/run/{name}; else a queue.")]
Shadow = Annotated[bool, typer.Option("--shadow", help="They fire nothing; `horae shadow report` compares.")]
Planned = Annotated[bool, typer.Option("--plan", help="Show what applying them would do.")]
Applied = Annotated[bool, typer.Option("--apply", help="Apply them at once.")]
Strict = Annotated[bool, typer.Option("--strict", help="End with status 1 where something could not be taken over.")]


@app.command("crontab")
def crontab_(
    source: From,
    system: Annotated[bool, typer.Option("--system", help="A user stands before each command.")] = False,
    zone: Zone = None,
    owner: Owner = "crontab",
    output: Output = None,
    url: Url = None,
    shadow: Shadow = False,
    plan: Planned = False,
    apply: Applied = False,
    strict: Strict = False,
) -> None:
    """Import a crontab, of a user or of the system. Commands become payloads: a worker or a URL has to run them."""
    with exit_on_refusal():
        found = list(crontab.read(text_of(source), machine_zone=zone_of(zone), system=system))
    deliver(found, Wishes("crontab", owner, output, url, shadow, plan, apply, strict))


def _from_tables(name: str, read: Callable[[list[str], str], list[Found]]) -> None:
    """Register `horae import NAME` for a system that keeps its schedules in tables."""

    def run(
        source: Files,
        zone: Zone = None,
        owner: Owner = name,
        output: Output = None,
        url: Url = None,
        shadow: Shadow = False,
        plan: Planned = False,
        apply: Applied = False,
        strict: Strict = False,
    ) -> None:
        with exit_on_refusal():
            found = read(source, zone_of(zone))
        deliver(found, Wishes(name, owner, output, url, shadow, plan, apply, strict))

    app.command(name, help=read.__doc__)(run)


def _celery(sources: list[str], zone: str) -> list[Found]:
    """Import Celery beat: `module:NAME` of a schedule, its JSON export, or the tables of django-celery-beat."""
    return [celery.read(name, one, app_zone=zone, anchor=ANCHOR) for name, one in _beat(sources).items()]


def _xxl_job(sources: list[str], zone: str) -> list[Found]:
    """Import XXL-JOB: its table `xxl_job_info` as mysqldump, CSV or JSON."""
    rows = _tables(sources, ("xxl_job_info",)).get("xxl_job_info", [])
    return [xxl_job.read(row, server_zone=zone, anchor=ANCHOR) for row in rows]


def _quartz(sources: list[str], zone: str) -> list[Found]:
    """Import Quartz: its tables QRTZ_TRIGGERS, QRTZ_CRON_TRIGGERS, QRTZ_SIMPLE_TRIGGERS and QRTZ_JOB_DETAILS."""
    names = (
        quartz_tables.CRON_TABLE,
        quartz_tables.SIMPLE_TABLE,
        quartz_tables.TRIGGERS_TABLE,
        quartz_tables.DETAILS_TABLE,
    )
    return quartz_tables.read(_tables(sources, names), zone=zone)


_from_tables("celery", _celery)
_from_tables("xxl-job", _xxl_job)
_from_tables("quartz", _quartz)


def _beat(sources: list[str]) -> Mapping[str, Any]:
    one = sources[0]
    if ":" in one and "://" not in one and not Path(one).exists():
        return celery_tables.of_schedule(_named(one))
    names = (celery_tables.TASKS, *(f"{celery_tables.APP}{kind}schedule" for kind in celery_tables.KINDS))
    if (
        len(sources) == 1
        and "://" not in one
        and (entries := celery_tables.entries_of_export(text_of(one))) is not None
    ):
        return entries
    return celery_tables.of_tables(_tables(sources, names))


def _named(place: str) -> Any:
    """The object that `module:NAME` names; for a Celery app, its `beat_schedule`."""
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise NotFound(f"there is no module {error.name!r} here; is its package installed?") from error
    held = getattr(found, name, None)
    if held is None:
        raise NotFound(f"module {module!r} has no {name!r}")
    return getattr(getattr(held, "conf", None), "beat_schedule", held)


def _tables(sources: list[str], names: tuple[str, ...]) -> Tables:
    """All tables of all sources. If there are several tables, a file of bare rows must be named after its table."""
    found: Tables = {}
    for source in sources:
        if source.startswith(("postgresql://", "postgres://")):
            found |= uvloop.run(databases.read(source, names))
        else:
            stem = Path(source).stem.lower()
            found |= dumps.read(text_of(source), alone=stem if stem in names else names[0])
    return found


def text_of(source: str) -> str:
    """The text of a file, or of stdin for `-`."""
    if source == "-":
        return typer.get_text_stream("stdin").read()
    if source.startswith(("mysql", "mariadb")) and "://" in source:
        raise Invalid("we speak PostgreSQL only: export the table with mysqldump, and name that file")
    try:
        return Path(source).read_text("utf-8")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {source!r}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{source!r} cannot be read: {error}") from error


def zone_of(given: str | None) -> str:
    """The given zone, or else this machine's, which is right on the machine that has the crontab."""
    named = given or os.environ.get("TZ", "").lstrip(":") or _machine()
    check_zone(named)
    return named


def _machine() -> str:
    name = Path("/etc/timezone")
    if name.exists() and (said := name.read_text().strip()):
        return said
    _, found, after = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")
    return after if found else "UTC"
