"""The command line: `horae --help` lists it."""

import typer

from horae import __version__
from horae.boot.commands import (
    api,
    audit,
    calendars,
    cells,
    dead,
    dev,
    doctor,
    jobs,
    keys,
    node,
    runs,
    schedules,
    tasks,
    tenants,
)
from horae.boot.session import out

app = typer.Typer(
    name="horae", help="Decides when to try; your business decides whether it takes effect.", no_args_is_help=True
)
app.add_typer(
    jobs.app,
    name="job",
    help="Jobs: create, list, preview, pause, resume, remove, trigger, test, skip or move one occurrence.",
)
for verb in (schedules.preview, schedules.skip, schedules.move, schedules.restore):
    jobs.app.command()(verb)
app.add_typer(calendars.app, name="calendar", help="Calendars: workdays, holidays, trading days.")
app.add_typer(tasks.app, name="task", help="Tasks: set the time of a business key.")
app.add_typer(dead.app, name="dead", help="Dead letters: list, replay, discard.")
app.add_typer(tenants.app, name="tenant", help="Tenants: who owns jobs.")
app.add_typer(cells.app, name="cells", help="Cells: the PostgreSQL clusters that hold the shards.")
app.command("migrate")(cells.migrate)
app.add_typer(keys.app, name="keys", help="API keys: the first one, and those of any tenant.")
app.add_typer(audit.app, name="audit", help="The sealed audit log: verify, anchor.")
app.command("node")(node.node)
app.command("api")(api.api)
app.command("dev")(dev.dev)
app.command("doctor")(doctor.doctor)
app.add_typer(runs.instance, name="instance", help="Instances: list, cancel, retry.")
app.add_typer(runs.backfill, name="backfill", help="Backfills: past fires of a job, asked for as a range.")
app.command("health")(runs.health)
app.command("history")(jobs.history)
app.command("forecast")(schedules.forecast)


@app.command()
def version() -> None:
    """Say which release this is."""
    out.print(__version__)


def main() -> None:
    """Where the `horae` program begins."""
    app()
